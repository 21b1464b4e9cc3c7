const w=9321,v=[9321],D={29321:((F,u,s)=>{s.d(u,{renderBadge:()=>m});var o=s(98963),l=s(8545);const d={passed:"#17723a",failed:"#b3261e",inconclusive:"#8a5300"},g="#3d4450",n="evals",e=20,r=7,c=6.4;function m({verdict:{outcome:t},totals:i}){const h=t==="inconclusive"||i.passRate===null?"":` ${(0,o.NE)(i.passRate)}`,p=`${t}${h}`,a=_(n),$=a+_(p),x=`${n}: ${p}`;return`<svg xmlns="http://www.w3.org/2000/svg" width="${$}" height="${e}" role="img" aria-label="${(0,l.R)(x)}">
  <title>${(0,l.I)(x)}</title>
  <clipPath id="round"><rect width="${$}" height="${e}" rx="3"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="${a}" height="${e}" fill="${g}"/>
    <rect x="${a}" width="${$-a}" height="${e}" fill="${d[t]}"/>
  </g>
  <g fill="#fff" font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="11">
    ${f(n,0)}
    ${f(p,a)}
  </g>
</svg>
`}function f(t,i){const h=_(t)-2*r;return`<text x="${i+r}" y="14" textLength="${h}" lengthAdjust="spacingAndGlyphs">${(0,l.I)(t)}</text>`}function _(t){return Math.round(t.length*c)+2*r}}),8545:((F,u,s)=>{s.d(u,{I:()=>d,R:()=>g});const o=/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu,l={"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;","'":"&apos;","	":"&#9;","\n":"&#10;","\r":"&#13;","\x85":"&#x85;","\u2028":"&#x2028;"};function d(e){return n(e,/[&<>\r\u0085\u2028]/g)}function g(e){return n(e,/[&<>"'\t\n\r\u0085\u2028]/g)}function n(e,r){return e.replaceAll(o,"\uFFFD").replaceAll(r,c=>l[c]??c)}})};export{w as id,v as ids,D as modules};
