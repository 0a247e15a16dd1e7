NAME          BAKERY
OBJSENSE
    MAX
ROWS
 N  PROFIT
 L  FLOUR
 L  OVEN
 G  PROMISED
COLUMNS
    BREAD     PROFIT             3.0   FLOUR              1.0
    BREAD     OVEN               1.0   PROMISED           1.0
    CAKE      PROFIT             7.0   FLOUR              1.0
    CAKE      OVEN               3.0
    ROLLS     PROFIT             2.0   FLOUR              0.5
    ROLLS     OVEN               0.5   PROMISED           1.0
RHS
    RHS       FLOUR            100.0   OVEN             180.0
    RHS       PROMISED          40.0
BOUNDS
 UP BND       ROLLS             60.0
ENDATA
