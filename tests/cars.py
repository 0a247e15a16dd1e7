"""The database of cars from the notes, with the two records they give (4 doors, 1997, maker 6; 0 doors, maker 3)."""

CARS = """\
doors,year,manufacturer,weight,fast,comment,sport
4,1997,6,1320.5,true,"A quick, low car",sport
0,1997,3,4100,false,"A tractor, slow",regular
2,2001,6,1105,true,low and red,sport
4,1989,1,1410,false,family car,regular
2,1994,2,990.25,true,"red, low, loud",sport
5,2003,1,1650,false,a family van,regular
2,1999,6,1210,true,,sport
4,1985,3,2950,false,a slow truck,regular
2,2004,4,1275,true,quick and loud,sport
4,1992,1,1380,false,old family car,regular
2,1996,4,1150,true,low car,sport
3,1998,2,1020,false,small car,regular
2,2005,6,1310,true,quick red car,sport
0,1979,3,,false,tractor,regular
4,2002,4,1495,true,"a quick ""sedan"", loud",sport
5,1991,2,1290,false,,regular
2,1988,6,1080,true,"loud, old",sport
4,2000,1,1455,false,family car,regular
2,2003,4,1195,true,low and quick,sport
5,1995,3,2210,false,slow van,regular
"""
N_CARS = 20
