import type { HonoRequest } from 'hono';
import type { Clock } from '../../../../src/base/time.ts';
import { type Chatbox, type ChatboxDetail, chatOperations } from '../../../../src/service/operations/chats.ts';
import { chatboxContentSchema, type ChatboxContent } from '../chats/chatboxes.ts';
import type { ChatSession, ChatSessions } from '../chats/sessions.ts';
import { invalid, notFound } from '../envelope.ts';
import { requireMemberProject } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readLimit } from '../request.ts';
import type { DocumentRecord } from '../store/documents.ts';
import type { Store } from '../store/open-store.ts';

/** Serves the conversations with the agent. None is ever archived here. */
export function serveChatSessions(
  serve: ServeOperation,
  { store, sessions }: { store: Store; sessions: ChatSessions },
): void {
  serve(chatOperations.listChatSessions, ({ request, caller }) => {
    const projectId = request.query('projectId') ?? null;
    if (projectId !== null) requireMemberProject(store, projectId, caller);
    const status = request.query('status') ?? 'active';
    if (status !== 'active' && status !== 'archived') throw invalid('status: Expected active or archived');
    const limit = readLimit(request, { max: 200, standard: 50 });
    const before = readBefore(request);
    const found = status === 'archived' ? [] : sessions.list(caller, projectId).filter(before);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(renderSession),
      ...(found.length > limit && last !== undefined && { nextCursor: `${last.content.lastActivityAt}_${last.id}` }),
    };
  });
}

function renderSession({ id, projectId, content, createdAt }: ChatSession) {
  const { title, isShared, lastActivityAt } = content;
  return {
    id,
    title,
    status: 'active',
    projectId,
    visibility: isShared ? 'project' : 'private',
    lastActivityAt,
    createdAt,
    isPinned: false,
    isUnread: false,
  };
}

/** Reads a moment, or a moment and the id of a session, because several sessions may have been active at the same time. */
function readBefore(request: HonoRequest): (session: ChatSession) => boolean {
  const text = request.query('before') ?? '';
  if (text === '') return () => true;
  const [, moment, id] = /^(\d{1,15})(?:_(\w+))?$/.exec(text) ?? [];
  if (moment === undefined) throw invalid('before: Not a cursor of this list');
  const at = Number(moment);
  return (session) =>
    session.content.lastActivityAt < at ||
    (id !== undefined && session.content.lastActivityAt === at && session.id < id);
}

/** Serves the chatboxes of the oldest project. A file with chatboxes replaces those in the store. Both profiles have a path for them. */
export function serveChatboxes(
  serve: ServeOperation,
  { store, clock, given }: { store: Store; clock: Clock; given: readonly ChatboxContent[] | null },
): void {
  const chatboxes = store.documents.open('chatbox', chatboxContentSchema);
  const [project] = store.projects.list();
  if (given !== null && project !== undefined) {
    store.transact(() => {
      for (const { id } of chatboxes.listAll()) chatboxes.delete(id);
      for (const content of given) {
        chatboxes.insert({ id: content.id, projectId: project.id, content, now: clock.now() });
      }
    });
  }
  const { listChatboxes, getChatbox } = chatOperations;
  const list = (projectId: string) => ({
    items: chatboxes.list(projectId).map((chatbox): Chatbox => renderChatbox(store, chatbox)),
  });
  const get = (projectId: string, id: string): ChatboxDetail => {
    const chatbox = chatboxes.get(projectId, id);
    if (chatbox === undefined) throw notFound('Chatbox');
    const { modelId, systemPrompt, temperature, requireToolApproval } = chatbox.content;
    const servers = listServers(store, chatbox).map(({ id, content: { name, url = '', useOAuth = false } }) => ({
      id,
      name,
      url: hideQuery(url),
      useOAuth,
    }));
    return { ...renderChatbox(store, chatbox), modelId, systemPrompt, temperature, requireToolApproval, servers };
  };
  serve(listChatboxes, ({ ids }) => list(ids.projectId));
  serve(getChatbox, ({ ids }) => get(ids.projectId, ids.chatboxId));
  serve({ ...listChatboxes, path: '/projects/{projectId}/scenarios' }, ({ ids }) => list(ids.projectId));
  serve({ ...getChatbox, path: '/projects/{projectId}/scenarios/{scenarioId}' }, ({ ids }) =>
    get(ids.projectId, ids.scenarioId),
  );
}

/** Removes the query, which may contain a secret, from a URL; null for a server without one. Only the server record shows the whole URL. */
function hideQuery(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed && `${parsed.origin}${parsed.pathname}`;
}

/** Lists the servers of a chatbox without deleted ones. */
function listServers(store: Store, { projectId, content }: DocumentRecord<ChatboxContent>) {
  return content.servers.flatMap(
    (idOrName) => store.servers.get(projectId, idOrName) ?? store.servers.getByName(projectId, idOrName) ?? [],
  );
}

function renderChatbox(store: Store, chatbox: DocumentRecord<ChatboxContent>): Chatbox {
  const { id, projectId, content, createdAt, updatedAt } = chatbox;
  const { name, description, mode, hostStyle, link } = content;
  const serverNames = listServers(store, chatbox).map((server) => server.content.name);
  const host = { hostStyle, hostId: null, hostName: null };
  const times = { createdAt, updatedAt };
  return {
    id,
    projectId,
    name,
    description,
    mode,
    ...host,
    serverCount: serverNames.length,
    serverNames,
    link,
    ...times,
  };
}
