// Keeps one note of this job on its merge request: node gitlab-note.mjs note.md
// Needs no package. Reads the variables that GitLab sets in a job, and GITLAB_TOKEN, a token with the scope `api`.
import { readFileSync } from 'node:fs';

const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, CI_JOB_NAME, GITLAB_TOKEN } = process.env;

if (!CI_MERGE_REQUEST_IID || !GITLAB_TOKEN) {
  const missing = CI_MERGE_REQUEST_IID ? 'the variable GITLAB_TOKEN is not set' : 'this is no merge request pipeline';
  console.log(`Posted no note: ${missing}.`);
} else {
  const marker = `<!-- mcp-eval-ci ${JSON.stringify(CI_JOB_NAME).replaceAll('-->', '')} -->`;
  const body = `${marker}\n${readFileSync(process.argv[2], 'utf8')}`;
  const notes = `/projects/${CI_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
  const { id: self } = await request('GET', '/user');
  const known = await findNote(notes, (note) => note.author.id === self && note.body.startsWith(marker));
  await (known ? request('PUT', `${notes}/${known.id}`, { body }) : request('POST', notes, { body }));
  console.log(known ? 'Updated the note on the merge request.' : 'Posted a note on the merge request.');
}

/** Looks through at most 1,000 notes, oldest first. */
async function findNote(notes, isOwn) {
  for (let page = 1; page <= 10; page += 1) {
    const found = await request('GET', `${notes}?sort=asc&order_by=created_at&per_page=100&page=${page}`);
    const known = found.find(isOwn);
    if (known || found.length < 100) return known;
  }
}

async function request(method, path, body) {
  const response = await fetch(`${CI_API_V4_URL}${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': GITLAB_TOKEN, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`GitLab answered ${method} ${path.split('?')[0]} with ${response.status}.`);
  return await response.json();
}
