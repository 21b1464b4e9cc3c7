import { z } from 'zod';
import { hostIds } from '../host-ids.ts';
import { defineRule } from './define-rule.ts';

/** The effect of what a change makes worse in a host: it fails, a person has to look, or the host does not matter. */
const hostEffects = z.enum(['fail', 'review', 'off']);

export const hostSection = {
  name: 'hosts',
  id: 'hosts',
  description: 'What it means for the verdict that a change makes the server worse for the models of a host.',
  docs: '{ gemini-cli: fail, codex: review } # default off; what a change may make worse in a host, see hosts.md',
};

export const hostRules = hostIds.map((id) =>
  defineRule(`hosts.${id}`, {
    scope: 'gate',
    written: hostEffects,
    description: `What the change makes worse in the host ${id}. Only measured facts fail. Default: off.`,
    default: 'off',
    strictness: { stricter: ['fail', 'review', 'off'] },
  }),
);
