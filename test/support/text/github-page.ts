import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** The sizes that decide what a first screen shows, close to those of GitHub's comments. */
const style = `
  body { margin: 0; padding: 16px; overflow-wrap: break-word; font: 14px/1.5 'Noto Sans', Helvetica, Arial, sans-serif; }
  h2, h3, h4 { margin: 24px 0 16px; line-height: 1.25; }
  body > :first-child { margin-top: 0; }
  p, ul, table, pre, details, blockquote { margin: 0 0 16px; }
  ul { padding-left: 2em; }
  code { padding: 0.2em 0.4em; font: 85%/1.4 ui-monospace, Menlo, monospace; white-space: break-spaces; }
  pre { padding: 16px; overflow: auto; }
  pre code { padding: 0; white-space: pre; }
  table { display: block; overflow: auto; border-collapse: collapse; }
  td, th { padding: 6px 13px; border: 1px solid; }
  :root { color-scheme: light dark; }
`;

/** Renders Markdown in GitHub's dialect as a page, as it looks in a comment or a job summary. */
export function renderGitHubPage(markdown: string): string {
  const body = micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  return `<!doctype html>
<html lang="en" data-ready>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>GitHub</title><style>${style}</style></head>
<body>${body}</body>
</html>`;
}
