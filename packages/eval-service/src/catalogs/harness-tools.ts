interface BuiltinTool {
  name: string;
  description: string;
  /** True if the tool changes nothing. */
  readOnly: boolean;
}

const reads = (name: string, description: string): BuiltinTool => ({ name, description, readOnly: true });
const writes = (name: string, description: string): BuiltinTool => ({ name, description, readOnly: false });

/** The built-in tools of harnesses, next to those of MCP servers. This project wrote the descriptions; the list is incomplete. */
export const harnessTools: ReadonlyMap<string, readonly BuiltinTool[]> = new Map([
  [
    'claude-code',
    [
      writes('Bash', 'Runs a shell command.'),
      reads('Read', 'Reads a file.'),
      writes('Write', 'Writes a file.'),
      writes('Edit', 'Replaces text in a file.'),
      reads('Glob', 'Finds files by a pattern of their paths.'),
      reads('Grep', 'Finds lines of files by a pattern.'),
      reads('WebFetch', 'Reads a page of the web.'),
      reads('WebSearch', 'Searches the web.'),
      writes('Task', 'Hands a task to another agent.'),
      writes('TodoWrite', 'Keeps the list of what is to be done.'),
    ],
  ],
  [
    'codex',
    [
      writes('shell', 'Runs a shell command.'),
      writes('apply_patch', 'Changes files by a patch.'),
      writes('update_plan', 'Keeps the plan of the work.'),
      reads('view_image', 'Shows an image file to the model.'),
      reads('web_search', 'Searches the web.'),
    ],
  ],
]);
