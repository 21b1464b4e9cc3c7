import { isDeepStrictEqual } from 'node:util';
import { describeError, GateError, GitHubError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import { createComment, deleteComment, type IssueComment, listComments, updateComment } from '../../github/comments.ts';
import { getIdentity, isSamePerson } from '../../github/identity.ts';
import type { Repository } from '../../github/repository.ts';
import type { CommentMode } from '../options/report-to.ts';
import { isNewerRun, type Marker, nameComments, parseMarker, renderMarker } from '../plan/marker.ts';
import { isConfirmedNewer, type OwnRun } from './confirm-newer.ts';

/** A comment for a pull request. */
export interface CommentDraft extends OwnRun {
  pullNumber: number;
  mode: CommentMode;
  /** The lines below the marker that GitHub does not show. */
  hidden: readonly string[];
  /** Renders the text below these lines, in at most `maxBytes` bytes. `replaced` is the text of the comment that it replaces; null if none. */
  render: (maxBytes: number, replaced: string | null) => string;
}

/** The outcome: `outdated` if a newer run has commented already, `unwanted` if the mode calls for no comment. */
export interface PostedComment {
  kind: 'created' | 'updated' | 'unwanted' | 'outdated';
  url: string | null;
}

const maxBytes = 60_000;
/** The limit for a second attempt, if GitHub still finds the text too long. */
const shortMaxBytes = 15_000;
/** The most rounds of searching for a comment that appeared or was deleted in the meantime. */
const maxRounds = 3;

interface OwnComment extends IssueComment {
  marker: Marker;
  /** True if GitHub confirms that it belongs to a newer run. */
  isNewer: boolean;
}

/**
 * Keeps one comment for a job: creates it, or updates the existing one. It is identified by its marker and its author, so that a copied
 * marker never makes the gate overwrite a foreign comment. The comment of a newer run stays as it is, if GitHub confirms that the run is
 * newer.
 *
 * @throws {GitHubError} if GitHub refuses
 * @throws {NetworkError} if no answer arrives
 */
export async function postComment(client: GitHubClient, draft: CommentDraft, logger: Logger): Promise<PostedComment> {
  const identity = await getIdentity(client);
  const location = nameComments(draft.repository, draft.pullNumber);
  const listOwn = async (): Promise<OwnComment[]> => {
    const comments = await listComments(client, draft.repository, draft.pullNumber);
    const own: OwnComment[] = [];
    for (const comment of comments) {
      const marker = isSamePerson(identity, comment.author) ? parseMarker(comment.body, location) : null;
      if (marker?.key !== draft.marker.key) continue;
      own.push({ ...comment, marker, isNewer: await isConfirmedNewer(client, marker, { own: draft, logger }) });
    }
    return own;
  };
  for (let round = 1; ; round += 1) {
    const own = await listOwn();
    const sameVerdict = own.find(({ marker }) => isSameVerdict(marker, draft.marker));
    if (sameVerdict !== undefined && round > 1) {
      // An earlier round created it, and GitHub's answer was lost.
      return (
        (await yieldToOlder(client, draft, { own, listOwn, logger, created: sameVerdict })) ?? createdAt(sameVerdict)
      );
    }
    const kind = decide(own, draft);
    if (kind === 'unwanted' || kind === 'outdated') return { kind, url: own[0]?.url ?? null };
    try {
      return await write(client, draft, { own, listOwn, logger });
    } catch (error) {
      const isGone = error instanceof GitHubError && error.status === 404 && own.length > 0;
      if (round === maxRounds || !(isGone || (error instanceof GateError && error.mayHaveHappened))) throw error;
      logger.debug(`Looking for the comment again: ${describeError(error)}`);
    }
  }
}

const createdAt = ({ url }: IssueComment): PostedComment => ({ kind: 'created', url });

function isSameVerdict(one: Marker, other: Marker): boolean {
  return isDeepStrictEqual(one, other);
}

function decide(own: readonly OwnComment[], { mode, marker }: CommentDraft): PostedComment['kind'] {
  if (own.length === 0) return mode === 'on-failure' && marker.outcome === 'passed' ? 'unwanted' : 'created';
  if (own.some(({ isNewer }) => isNewer)) return 'outdated';
  const [first, ...others] = own.map((comment) => comment.marker).filter(({ run }) => !isNewerRun(run, marker.run));
  if (mode !== 'on-change' || first === undefined) return 'updated';
  const last = others.reduce((newest, each) => (isNewerRun(each.run, newest.run) ? each : newest), first);
  return last.outcome === marker.outcome ? 'unwanted' : 'updated';
}

interface Surroundings {
  /** The oldest first. */
  own: readonly OwnComment[];
  listOwn: () => Promise<OwnComment[]>;
  logger: Logger;
}

async function write(client: GitHubClient, draft: CommentDraft, around: Surroundings): Promise<PostedComment> {
  const { repository, pullNumber: number } = draft;
  const [kept, ...doubles] = around.own;
  if (kept === undefined) {
    const created = await retryShorter(draft, null, (body) => createComment(client, repository, { number, body }));
    return (await yieldToOlder(client, draft, { ...around, created })) ?? createdAt(created);
  }
  const { url } = await retryShorter(draft, kept.body, (body) =>
    updateComment(client, repository, { id: kept.id, body }),
  );
  for (const { id } of doubles) await remove(client, repository, id, around.logger);
  return { kind: 'updated', url };
}

/**
 * Resolves the case that two runs create a comment at the same moment. Both then see the older comment, and the run with the newer one
 * deletes its own.
 */
async function yieldToOlder(
  client: GitHubClient,
  draft: CommentDraft,
  { created, listOwn, logger }: Surroundings & { created: IssueComment },
): Promise<PostedComment | null> {
  const { repository } = draft;
  const [oldest] = await listOwn();
  if (oldest === undefined || oldest.id >= created.id) return null;
  const isOutdated = oldest.isNewer;
  if (!isOutdated) {
    await retryShorter(draft, oldest.body, (body) => updateComment(client, repository, { id: oldest.id, body }));
  }
  await remove(client, repository, created.id, logger);
  return { kind: isOutdated ? 'outdated' : 'updated', url: oldest.url };
}

async function remove(client: GitHubClient, repository: Repository, id: number, logger: Logger): Promise<void> {
  try {
    await deleteComment(client, repository, id);
  } catch (error) {
    // The verdict is posted; the next run finds the second comment again.
    logger.debug(`A second comment of this job could not be deleted: ${describeError(error)}`);
  }
}

async function retryShorter(
  { repository, pullNumber, marker, hidden, render }: CommentDraft,
  replaced: string | null,
  send: (body: string) => Promise<IssueComment>,
): Promise<IssueComment> {
  const build = (limit: number) => {
    const head = [renderMarker(marker, nameComments(repository, pullNumber)), ...hidden]
      .map((line) => `${line}\n`)
      .join('');
    return head + render(limit - Buffer.byteLength(head), replaced);
  };
  try {
    return await send(build(maxBytes));
  } catch (error) {
    if (!(error instanceof GitHubError) || error.status !== 422) throw error;
    const body = build(shortMaxBytes);
    return await send(body);
  }
}
