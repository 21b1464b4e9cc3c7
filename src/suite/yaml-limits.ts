import { CST, Lexer } from 'yaml';

/** As upstream caps them; an evals file that needs more is better generated than aliased. */
const maxAliases = 100;
/** Anchors and tags are few in any honest file, and many of them on one node make the parser quadratic. */
const maxProperties = 1000;
/** Deeper than any argument of a tool; far above this the parser exhausts the stack. */
export const maxDepth = 64;

export interface LimitBreach {
  code: 'too-many-aliases' | 'too-deep';
  message: string;
  offset: number;
}

/**
 * Finds the first position at which a text would cost its parser more than an evals file may, or undefined. Works on the
 * lexer's tokens, in time linear in the text, since the parser itself needs minutes for a few kilobytes of `? ? ?`.
 */
export function findLimitBreach(text: string): LimitBreach | undefined {
  let offset = 0;
  let aliases = 0;
  let properties = 0;
  let flowDepth = 0;
  let blockDepth = 0;
  for (const token of new Lexer().lex(text)) {
    switch (CST.tokenType(token)) {
      case 'newline':
        blockDepth = 0;
        break;
      case 'flow-map-start':
      case 'flow-seq-start':
        flowDepth += 1;
        break;
      case 'flow-map-end':
      case 'flow-seq-end':
        flowDepth = Math.max(0, flowDepth - 1);
        break;
      case 'comma':
        blockDepth = 0;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
      case 'map-value-ind':
        blockDepth += 1;
        break;
      case 'alias':
        aliases += 1;
        break;
      case 'anchor':
      case 'tag':
        properties += 1;
        break;
      default:
    }
    if (aliases > maxAliases) {
      return { code: 'too-many-aliases', message: `More than ${maxAliases} aliases; write the values out`, offset };
    }
    if (properties > maxProperties) {
      return { code: 'too-many-aliases', message: `More than ${maxProperties} anchors and tags`, offset };
    }
    if (flowDepth > maxDepth || blockDepth > maxDepth) {
      return { code: 'too-deep', message: describeDepth(), offset };
    }
    // The lexer marks the start of a scalar, a document and the like with a control character of its own.
    if (!isLexerMark(token)) offset += token.length;
  }
  return undefined;
}

export function describeDepth(): string {
  return `Nested more than ${maxDepth} levels deep`;
}

function isLexerMark(token: string): boolean {
  return token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR;
}
