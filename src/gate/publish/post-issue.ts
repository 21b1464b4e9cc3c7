import { clipText } from '../../base/text.ts';
import { describeError, GateError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import { getIdentity, isSamePerson } from '../../github/identity.ts';
import { createIssue, type Issue, listIssues, updateIssue } from '../../github/issues.ts';
import type { Repository } from '../../github/repository.ts';
import { type Marker, nameIssues, parseMarker, renderMarker } from '../plan/marker.ts';
import { isConfirmedNewer, type OwnRun } from './confirm-newer.ts';

/** An issue that stays open as long as a suite fails. */
export interface IssueDraft {
  repository: Repository;
  marker: Marker;
  /** The path of the workflow's file; null if it is not known. */
  workflow: string | null;
  title: string;
  /** Renders the text below the marker, in at most `maxBytes` bytes. */
  render: (maxBytes: number) => string;
}

/** The outcome: `unwanted` if the suite does not fail and has no open issue, or if nothing was established. */
export interface PostedIssue {
  kind: 'opened' | 'updated' | 'closed' | 'unwanted' | 'outdated';
  url: string | null;
}

const maxBytes = 60_000;
const maxTitleLength = 120;
/** The most rounds of searching for an issue that may have been created although no answer arrived. */
const maxRounds = 3;

interface OwnIssue extends Issue {
  marker: Marker;
}

/**
 * Keeps one issue for a suite that fails: opens it, updates it with every further failure, closes it when the suite passes, and opens it
 * again after that. It is identified by its marker and its author. The issue text of a newer run stays as it is, and an inconclusive verdict
 * changes nothing.
 *
 * @throws {GitHubError} if GitHub refuses
 * @throws {NetworkError} if no answer arrives
 */
export async function postIssue(client: GitHubClient, draft: IssueDraft, logger: Logger): Promise<PostedIssue> {
  const { marker } = draft;
  if (marker.outcome === 'inconclusive') return { kind: 'unwanted', url: null };
  for (let round = 1; ; round += 1) {
    const own = await findOwn(client, draft);
    const isOutdated = own !== null && (await isConfirmedNewer(client, own.marker, { own: asRun(draft), logger }));
    const kind = isOutdated ? 'outdated' : decide(own, marker);
    if (kind === 'unwanted' || kind === 'outdated') return { kind, url: own?.url ?? null };
    try {
      const { url } = await write(client, draft, own);
      return { kind, url };
    } catch (error) {
      if (round === maxRounds || !(error instanceof GateError && error.mayHaveHappened)) throw error;
      logger.debug(`Looking for the issue again: ${describeError(error)}`);
    }
  }
}

function asRun({ repository, marker, workflow }: IssueDraft): OwnRun {
  return { repository, marker, workflow, commit: null, pullNumber: null };
}

/** Finds the oldest of the own issues, so that all runs agree on one. */
async function findOwn(client: GitHubClient, { repository, marker }: IssueDraft): Promise<OwnIssue | null> {
  const identity = await getIdentity(client);
  const issues = await listIssues(client, repository, identity.login);
  const own = issues.flatMap((issue) => {
    const found = isSamePerson(identity, issue.author) ? parseMarker(issue.body, nameIssues(repository)) : null;
    return found?.key === marker.key ? [{ ...issue, marker: found }] : [];
  });
  return own.toSorted((a, b) => a.number - b.number)[0] ?? null;
}

function decide(own: OwnIssue | null, marker: Marker): PostedIssue['kind'] {
  if (marker.outcome === 'passed') return own?.isOpen === true ? 'closed' : 'unwanted';
  return own?.isOpen === true ? 'updated' : 'opened';
}

async function write(client: GitHubClient, draft: IssueDraft, own: OwnIssue | null): Promise<Issue> {
  const { repository, marker, title, render } = draft;
  const head = `${renderMarker(marker, nameIssues(repository))}\n`;
  const body = head + render(maxBytes - Buffer.byteLength(head));
  if (own === null) return await createIssue(client, repository, { title: clipText(title, maxTitleLength), body });
  return await updateIssue(client, repository, { number: own.number, body, isOpen: marker.outcome !== 'passed' });
}
