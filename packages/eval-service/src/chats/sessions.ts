import { z } from 'zod';
import { clipText } from '../../../../src/base/text.ts';
import type { Clock } from '../../../../src/base/time.ts';
import type { AgentMessage } from '../agent/turn.ts';
import type { Caller } from '../callers.ts';
import { createId } from '../../../../src/base/ids.ts';
import type { DocumentRecord } from '../store/documents.ts';
import type { Store } from '../store/open-store.ts';

const contentSchema = z.object({
  userId: z.string(),
  title: z.string(),
  isShared: z.boolean(),
  lastActivityAt: z.number(),
});
export type ChatSession = DocumentRecord<z.infer<typeof contentSchema>>;

const longestTitle = 80;

/** An answered turn, for the record of its conversation. */
export interface AnsweredTurn {
  projectId: string;
  userId: string;
  /** Null if the request named no conversation. */
  conversationId: string | null;
  /** True if the members of the project could read the turn. */
  isShared: boolean;
  messages: readonly AgentMessage[];
}

/** The conversations with the agent, without their messages. */
export interface ChatSessions {
  /** Turns of the same conversation and user are one session. A turn without a conversation is a separate session. */
  record(turn: AnsweredTurn): void;
  /** Lists the caller's sessions and the shared ones of its organization, latest activity first; of one project unless `projectId` is null. */
  list(caller: Caller, projectId: string | null): ChatSession[];
}

export function openChatSessions({ store, clock }: { store: Store; clock: Clock }): ChatSessions {
  const sessions = store.documents.open('chat-session', contentSchema);
  return {
    record: ({ projectId, userId, conversationId, isShared, messages }) => {
      const now = clock.now();
      const parentId = conversationId === null ? null : `conversation:${conversationId}`;
      const found =
        parentId === null
          ? undefined
          : sessions
              .listOf(parentId)
              .find(({ projectId: id, content }) => id === projectId && (isShared || content.userId === userId));
      if (found !== undefined) {
        sessions.update({ id: found.id, content: { ...found.content, lastActivityAt: now }, now });
        return;
      }
      const first = messages.find(({ role }) => role === 'user')?.content ?? '';
      const title = clipText(first.replaceAll(/\s+/g, ' ').trim(), longestTitle);
      const content = { userId, title, isShared, lastActivityAt: now };
      sessions.insert({ id: createId('chat'), projectId, parentId, content, now });
    },
    list: ({ user, organizationId }, asked) => {
      const projects = store.projects.list().filter(({ content }) => content.organizationId === organizationId);
      return projects
        .filter(({ id }) => asked === null || id === asked)
        .flatMap(({ id }) => sessions.list(id))
        .filter(({ content }) => content.isShared || content.userId === user.id)
        .toSorted(compare);
    },
  };
}

function compare(a: ChatSession, b: ChatSession): number {
  return b.content.lastActivityAt - a.content.lastActivityAt || (a.id < b.id ? 1 : -1);
}
