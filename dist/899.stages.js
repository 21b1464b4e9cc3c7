export const id=899,ids=[899],modules={899:((A,n,a)=>{a.d(n,{generatedWorkspace:()=>t});const e={"data.json":`{ "name": "alpha", "count": 2, "tags": ["work", "home"] }
`,"docs/guide.md":`# Guide

Alpha comes before beta.

## Notes

- alpha
- beta
`,"notes.txt":`alpha
beta
Gamma
`,"pixel.png":Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","base64"),"table.csv":`name,count
alpha,2
beta,3
`},t={path:null,files:Object.keys(e),directories:["docs"],generated:e}})};
