const x=3854,P=[3854],R={3854:((O,E,r)=>{r.d(E,{appendHistoryLine:()=>u,i:()=>c});var l=r(77598),i=r(51455),m=r(76760),p=r(17594),d=r(19192);const y=100,f=16*1024*1024;async function c(t){try{return await(0,d.G)(t)}catch(e){if((0,p.WS)(e)==="ENOENT")return"";throw e}}async function u(t,e,_={maxRecords:y,maxBytes:f}){await(0,i.mkdir)((0,m.dirname)(t),{recursive:!0});const n=await c(t),o=D([...n.split(`
`).filter(s=>s.trim()!==""),e],_);if(o.isAll){const s=n===""||n.endsWith(`
`)?"":`
`;await(0,d.T)(t,`${s}${e}
`,"append");return}const a=`${t}.${(0,l.randomUUID)()}.tmp`;await(0,i.writeFile)(a,o.lines.map(s=>`${s}
`).join("")),await(0,i.rename)(a,t)}function D(t,e){let _=0;const n=t.slice(-e.maxRecords).toReversed(),o=n.findIndex((s,M)=>(_+=Buffer.byteLength(s)+1,M>0&&_>e.maxBytes)),a=(o===-1?n:n.slice(0,o)).toReversed();return{lines:a,isAll:a.length===t.length}}})};export{x as id,P as ids,R as modules};
