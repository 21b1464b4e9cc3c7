const M=3854,O=[3854],w={3854:((D,c,s)=>{s.d(c,{appendHistoryLine:()=>u,i:()=>_});var l=s(77598),o=s(51455),m=s(76760),p=s(17594);const E=100,y=16*1024*1024;async function _(t){try{return await(0,o.readFile)(t,"utf8")}catch(e){if((0,p.WS)(e)==="ENOENT")return"";throw e}}async function u(t,e,d={maxRecords:E,maxBytes:y}){await(0,o.mkdir)((0,m.dirname)(t),{recursive:!0});const n=await _(t),a=f([...n.split(`
`).filter(r=>r.trim()!==""),e],d);if(a.isAll){const r=n===""||n.endsWith(`
`)?"":`
`;await(0,o.appendFile)(t,`${r}${e}
`);return}const i=`${t}.${(0,l.randomUUID)()}.tmp`;await(0,o.writeFile)(i,a.lines.map(r=>`${r}
`).join("")),await(0,o.rename)(i,t)}function f(t,e){let d=0;const n=t.slice(-e.maxRecords).toReversed(),a=n.findIndex((r,x)=>(d+=Buffer.byteLength(r)+1,x>0&&d>e.maxBytes)),i=(a===-1?n:n.slice(0,a)).toReversed();return{lines:i,isAll:i.length===t.length}}})};export{M as id,O as ids,w as modules};
