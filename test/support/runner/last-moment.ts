/** Options of Node with which a process gets a SIGINT in its last moment, after all its work is done. */
export const interruptedInTheLastMoment = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent("process.on('exit', () => process.kill(process.pid, 'SIGINT'))")}`,
};
