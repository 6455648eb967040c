/** One column on a phone, two of charts on a desk, black on white on paper. Contrasts are WCAG AA. */
export const STYLE = `
:root{--bg:#fff;--card:#f6f7f9;--text:#16191d;--quiet:#4d5661;--line:#d4d9e0;--link:#0b57b0;
--good:#0a6b35;--good-bg:#e2f5e9;--bad:#a8161c;--bad-bg:#fde9e9;--odd:#7a4a00;--odd-bg:#fff1d6;--mild:#41505f;--mild-bg:#e9edf2;
--c0:#0b62c4;--c1:#b34700;--c2:#0a7a4b;--c3:#8a2fa3;--c4:#6b5b00;--c5:#b01657;--band:#eef2f7;--hatch:#c9d3e0}
@media (prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1d2126;--text:#eceff3;--quiet:#aeb8c4;--line:#3a424c;--link:#8ab8ff;
--good:#7fdca2;--good-bg:#12331f;--bad:#ff9d9d;--bad-bg:#431619;--odd:#ffc978;--odd-bg:#3d2b0a;--mild:#b9c6d4;--mild-bg:#29313a;
--c0:#6db1ff;--c1:#ff9a57;--c2:#5fd39c;--c3:#d594ee;--c4:#d8c44a;--c5:#ff86b4;--band:#20262d;--hatch:#3d4854}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","PingFang SC","Microsoft YaHei","Noto Sans CJK SC","WenQuanYi Micro Hei",sans-serif;overflow-wrap:anywhere}
html[data-lang=en] [lang=zh-Hans]:not(button),html[data-lang=zh] span[lang=en]{display:none}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1rem}
header{display:flex;justify-content:space-between;align-items:center;padding-top:.6rem;padding-bottom:.6rem}
.brand{font-weight:700;letter-spacing:.02em}
footer{padding:2rem 1rem;color:var(--quiet);font-size:.875rem}
.skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.3rem .6rem;z-index:2}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.defs{position:absolute}
.languages button{font:inherit;font-size:.875rem;min-height:2rem;padding:.15rem .7rem;border:1px solid var(--line);background:var(--bg);color:var(--text);cursor:pointer}
.languages button:first-child{border-radius:.4rem 0 0 .4rem}.languages button:last-child{border-radius:0 .4rem .4rem 0;border-left:0}
.languages button[aria-pressed=true]{background:var(--text);color:var(--bg)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1{font-size:1.25rem;margin:0;line-height:1.3}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;line-height:1.3;display:flex;gap:.6rem;align-items:center;flex-wrap:wrap}
h2.minor{font-size:.875rem;color:var(--quiet);margin:1rem 0 .2rem;font-weight:600}
h3{font-size:1rem;margin:1rem 0 .4rem}
p{margin:.4rem 0}ul,ol{margin:.4rem 0;padding-left:1.3rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.9em}
.quiet,.description{color:var(--quiet)}.quiet{font-size:.9rem}
.kind{font-size:.8rem;color:var(--quiet);font-weight:400}
.verdict{padding:1rem 1.1rem;border-radius:.6rem;border-left:.5rem solid;margin-top:.4rem}
.verdict.good{background:var(--good-bg);border-color:var(--good)}.verdict.bad{background:var(--bad-bg);border-color:var(--bad)}
.verdict.odd,.verdict.mild{background:var(--odd-bg);border-color:var(--odd)}
.verdict .quiet,.verdict .description,.verdict h2.minor{color:var(--text)}
.word{font-size:2.2rem;line-height:1.2;margin:.4rem 0;font-weight:700}
.good .word{color:var(--good)}.bad .word{color:var(--bad)}.odd .word{color:var(--odd)}
.beside{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem}
.scaled{border:1px solid;border-radius:.4rem;padding:.4rem .7rem}
.reasons li{margin:.15rem 0}
.facts{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;font-size:.875rem;margin-top:.8rem}
.badge{display:inline-block;padding:.05rem .5rem;border-radius:.4rem;font-size:.875rem;font-weight:600;white-space:nowrap}
.badge.good{color:var(--good);background:var(--good-bg)}.badge.bad{color:var(--bad);background:var(--bad-bg)}
.badge.odd{color:var(--odd);background:var(--odd-bg)}.badge.mild{color:var(--mild);background:var(--mild-bg)}
.verdict .badge{border:1px solid}
.wide{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.9rem;min-width:100%}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;padding:.3rem .7rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}
thead th{color:var(--quiet);font-weight:600;white-space:nowrap}tbody th{font-weight:400}
.n,.numbers td,.numbers th{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.numbers thead th{white-space:normal;min-width:5rem}
.side{display:inline-block;margin-right:.6rem;white-space:nowrap}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.5rem 1.5rem;margin:.5rem 0}
dt{color:var(--quiet);font-size:.875rem}dd{margin:0}
summary{cursor:pointer;color:var(--link);padding:.2rem 0}
pre{background:var(--card);padding:.8rem;border-radius:.4rem;overflow-x:auto;max-height:36rem;white-space:pre;overflow-wrap:normal}
.grid-of-charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1.6rem 2rem}
.chart{margin:0;min-width:0}
figcaption{line-height:1.35}.unit,.remark{color:var(--quiet);font-size:.85rem}.remark::before{content:"· "}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:0;margin:.3rem 0;font-size:.85rem}
.legend li{display:flex;align-items:center;gap:.4rem}
.sample{width:28px;height:8px;flex:none}
.sample path,.line{fill:none;stroke-width:2;stroke:currentColor;stroke-linejoin:round}
.line{vector-effect:non-scaling-stroke;stroke-width:1.6;stroke-linecap:round}
.dot{stroke-width:5}.spread{fill:currentColor;fill-opacity:.28}
.bar{fill:currentColor}
.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}
.frame{display:grid;grid-template-columns:4.6rem 1fr;grid-template-rows:13rem 1.5rem}
.ys,.xs{position:relative;font-size:.78rem;color:var(--quiet);font-variant-numeric:tabular-nums}
.ys span{position:absolute;right:.4rem;transform:translateY(50%);white-space:nowrap}
.xs{grid-column:2}.xs span{position:absolute;top:.2rem;transform:translateX(-50%);white-space:nowrap}
.xs .start{transform:none}.xs .end{transform:translateX(-100%)}
.plot{position:relative;border-left:1px solid var(--quiet);border-bottom:1px solid var(--quiet);touch-action:pan-y;overflow:hidden}
.plot svg{position:absolute;inset:0;width:100%;height:100%;display:block}
.grid,.mark{fill:none;vector-effect:non-scaling-stroke;stroke:var(--line);stroke-width:1}
.mark{stroke:var(--quiet);stroke-dasharray:2 4}
.band0{fill:none}.band1{fill:var(--band)}.warm{fill:url(#hatch)}.hatch{fill:var(--hatch)}
.bands span{position:absolute;top:0;padding:.05rem .3rem;font-size:.72rem;color:var(--quiet);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.cursor{position:absolute;top:0;bottom:0;width:1px;background:var(--text)}
.read{display:block;min-height:1.3rem;font-size:.85rem;font-variant-numeric:tabular-nums}
.read span{margin-right:1rem;white-space:nowrap}
.data{font-size:.9rem}
@media (max-width:30rem){body{font-size:15px}.word{font-size:1.9rem}.frame{grid-template-columns:4rem 1fr;grid-template-rows:11rem 1.5rem}th,td{padding:.3rem .5rem}}
@media print{:root{--bg:#fff;--card:#fff;--text:#000;--quiet:#333;--line:#bbb;--link:#000;--good:#04512a;--good-bg:#fff;--bad:#8a0f14;--bad-bg:#fff;--odd:#5e3900;--odd-bg:#fff;--mild:#333;--mild-bg:#fff;
--c0:#0b62c4;--c1:#b34700;--c2:#0a7a4b;--c3:#8a2fa3;--c4:#6b5b00;--c5:#b01657;--band:#eee;--hatch:#ccc}
@page{margin:14mm}body{font-size:10pt}.languages,.skip,.read,.cursor,.data summary,details:not([open]){display:none!important}
header,main,footer{padding-left:0;padding-right:0;max-width:none}.verdict{border:1.5pt solid;border-left-width:6pt}.badge{border:.5pt solid}
.chart,tr,.verdict{break-inside:avoid}h2{break-after:avoid}.wide{overflow:visible}table{font-size:7.5pt}th,td{padding:.12rem .25rem}td code,.side{overflow-wrap:anywhere}.n,.numbers td,.numbers th,thead th,.side{white-space:normal}.badge{font-size:1em;padding:0 .2rem}
pre{max-height:none;white-space:pre-wrap;overflow-wrap:anywhere}.grid-of-charts{grid-template-columns:1fr 1fr}.frame{grid-template-rows:9rem 1.4rem;grid-template-columns:4rem 1fr}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
