"""How a report looks: on a bright or a dark screen, and on paper, which is always bright.

Blue and red differ for every common kind of colour vision; lines differ by their dashes and points by their shapes as
well, so that nothing is lost in grey.
"""

# Nothing is loaded from anywhere, and nothing runs.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --soft: #58626c; --faint: #d9dee3; --paper: #ffffff;
  --tint: #f3f5f7; --blue: #2166ac; --red: #c0392b; --grey: #6f7780; --good: #1b6e3c; --warn: #8a4b00;
  --heat: 33, 102, 172; --on-heat: #ffffff; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --soft: #a3adb7; --faint: #39424b; --paper: #14181c; --tint: #1d2329; --blue: #6cb0ee;
    --red: #ff8f80; --grey: #9aa4ae; --good: #7fd09b; --warn: #f0b35a; --heat: 108, 176, 238; --on-heat: #0d1114; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 58rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .2rem; padding-top: .8rem; border-top: 1px solid var(--faint); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.lead { color: var(--soft); margin: 0 0 1rem; }
.note { color: var(--soft); font-size: .875rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .75rem; margin: 1.4rem 0; }
.card { background: var(--tint); border: 1px solid var(--faint); border-radius: 6px; padding: .7rem .9rem; }
.card b { display: block; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; }
.card span { color: var(--soft); font-size: .875rem; }
.good b { color: var(--good); } .warn b { color: var(--warn); }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .3rem 1.2rem; margin: .8rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--faint);
  overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; } td:first-child { min-width: 6rem; }
.number { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.heat th, .heat td { padding: .35rem .6rem; text-align: right; border: 1px solid var(--faint); max-width: 12rem; }
.heat tbody th { text-align: left; }
.h1 { background: rgba(var(--heat), .08); } .h2 { background: rgba(var(--heat), .18); }
.h3 { background: rgba(var(--heat), .32); } .h4 { background: rgba(var(--heat), .5); }
.h5 { background: rgba(var(--heat), .9); color: var(--on-heat); } .right { outline: 2px solid var(--ink);
  outline-offset: -2px; }
pre { background: var(--tint); border: 1px solid var(--faint); border-radius: 6px; padding: .7rem .9rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font: .85rem/1.5 ui-monospace, "SF Mono", Consolas, monospace; }
figure { margin: 1rem 0; break-inside: avoid; } figcaption { color: var(--soft); font-size: .875rem; }
svg { display: block; width: 100%; max-width: 46rem; height: auto; }
svg text { fill: var(--ink); font-size: 13px; } svg .quiet { fill: var(--soft); font-size: 12px; }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
.frame { stroke: var(--grey); fill: none; } .grid { stroke: var(--faint); fill: none; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.blue { stroke: var(--blue); } .red { stroke: var(--red); } .grey { stroke: var(--grey); } .ink { stroke: var(--ink); }
.dashed { stroke-dasharray: 7 4; } .dotted { stroke-dasharray: 2 4; stroke-linecap: round; }
.fill-blue { fill: var(--blue); } .fill-red { fill: var(--red); } .fill-grey { fill: var(--grey); }
.hollow { fill: var(--paper); stroke: var(--red); stroke-width: 1.6; }
.point { fill: var(--blue); stroke: var(--paper); stroke-width: .6; }
.ring { fill: none; stroke: var(--ink); stroke-width: 1.4; } .band { fill: var(--grey); opacity: .16; }
.letter { font-size: 10px; text-anchor: middle; font-weight: 600; }
.region { fill: var(--grey); shape-rendering: crispEdges; }
footer { margin-top: 3rem; color: var(--soft); font-size: .875rem; }
@page { margin: 16mm; }
@media print { :root { color-scheme: light; } body { padding: 0; max-width: none; font-size: 10.5pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3 { break-after: avoid; } tr, .card, pre { break-inside: avoid; } .wide { overflow: visible; } }
"""
