import { CST, Lexer } from 'yaml';

/** The limit of upstream. Generate an evals file that needs more. */
const maxAliases = 100;
/** Limits anchors and tags, because many of them on one node make the parser quadratic. Real files have few. */
const maxProperties = 1000;
/** Deeper than the arguments of any tool. A much deeper file exhausts the parser's stack. */
export const maxDepth = 64;

export interface LimitBreach {
  code: 'too-many-aliases' | 'too-deep';
  message: string;
  offset: number;
}

/**
 * Finds the first position at which parsing a text would exceed the limits of an evals file; undefined if there is none. Works on the
 * lexer's tokens in linear time, because the parser itself needs minutes for a few kilobytes of `? ? ?`.
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
    // Does not count the control characters with which the lexer marks the start of a scalar, a document and the like.
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
