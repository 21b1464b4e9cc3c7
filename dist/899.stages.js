export const id=899,ids=[899],modules={899:((A,t,a)=>{a.d(t,{generatedWorkspace:()=>s});const o="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",e="\u03B1\u03B2\u03B3\u03B4\u03B5\u03B6\u03B7\u03B8\u03B9\u03BA\u03BB\u03BC\u03BD\u03BE\u03BF\u03C0\u03C1\u03C3\u03C4\u03C5\u03C6\u03C7\u03C8\u03C9".repeat(24),n={"data.json":`{ "name": "alpha", "count": 2, "tags": ["work", "home"] }
`,"docs/draft.txt":`Beta comes after alpha.
`,"docs/guide.md":`# Guide

Alpha comes before beta.

## Notes

- alpha
- beta
`,"notes.txt":`alpha
beta
Gamma
`,"pixel.png":Buffer.from(o,"base64"),"table.csv":`name,count
alpha,2
beta,3
`,"unicode.txt":`1${e}
2${e}
3${e}
`},s={path:null,files:Object.keys(n),directories:["docs"],generated:n}})};
