export const id=7406,ids=[7406],modules={87406:(module=>{module.exports=eval("require")("./job-upstream.ts")})};
