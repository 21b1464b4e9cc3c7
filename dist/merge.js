import { basename } from 'node:path';
import process from 'node:process';
// Handles SIGUSR1 before anything else, so that no process of this machine can make Node open its debugger in this one.
process.on('SIGUSR1', () => { });
// Imports nothing of this project until the version is known to be new enough: a runner that is compatible with GitHub's may have an older
// Node, which would print the whole bundle with a syntax error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
    // The main step has started nothing that the post step could stop.
    if (basename(process.argv[1] ?? '') === 'post.js')
        process.exit(0);
    const message = `mcp-eval-ci needs Node.js 22.19 or newer, and this runner has ${process.version}. Update the runner, or the image that it uses.`;
    process.stdout.write(`::error::${message}\n`);
    process.exit(2);
}
await import('./entry.js');
