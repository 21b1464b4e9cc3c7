import type { GateOptions } from './schema.ts';

/**
 * Names what distinguishes a job from others of the same name, such as those of its matrix: its `comment-id`, which the runner fills in for
 * the action, else its shard. Null where neither is given.
 */
export function nameJobSlot({ commentId, shard }: Pick<GateOptions, 'commentId' | 'shard'>): string | null {
  return commentId ?? (shard === null ? null : `${shard.index}/${shard.total}`);
}
