export const id=9942,ids=[9942],modules={39942:(module=>{module.exports=eval("require")("./shared-files.ts")})};
