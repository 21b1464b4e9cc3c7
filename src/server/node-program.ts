/** The program that runs this process, for scripts that others start for the gate. */
export const nodeProgram = process.execPath;
