import { array, assert, constantFrom, integer, oneof, property, string, tuple } from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { clipText } from '../../src/base/text.ts';
import { createRedactor, redactDeep, Secret } from '../../src/base/redaction.ts';
import { escapeXmlAttribute, escapeXmlText } from '../../src/report/escape/xml.ts';
import { countDraws } from '../support/property-runs.ts';

const toUnicodeEscape = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`;

const value = 'sk_live_a/b+c&d<e>"f"=g';

describe('Secret', () => {
  const secret = new Secret(value);

  it('shows itself to code that asks for it by name', () => {
    expect(secret.reveal()).toBe(value);
  });

  it.each([
    ['a string', String(secret)],
    ['a sentence', 'The key is ' + secret.toString()],
    ['JSON', JSON.stringify({ secret, list: [secret] })],
    ['a dump', inspect({ secret }, { depth: 5, showHidden: true })],
    ['its keys', JSON.stringify(Object.entries(secret))],
  ])('shows nothing in %s', (_, text) => {
    expect(text).not.toContain('sk_live');
  });
});

describe('createRedactor', () => {
  const redactor = createRedactor([new Secret(value)]);

  it.each([
    ['as it is', value],
    ['in a URL', encodeURIComponent(value)],
    ['in JSON', JSON.stringify(value)],
    ['in JSON inside JSON text', JSON.stringify({ nested: value })],
    [
      'in XML',
      value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    ],
    ['in base64', Buffer.from(value).toString('base64')],
    ['in base64 behind one byte', Buffer.from(`:${value}`).toString('base64')],
    ['in base64 behind a user name', Buffer.from(`user:${value}@host`).toString('base64')],
    ['in base64url', Buffer.from(`ab${value}yz`).toString('base64url')],
    ['in hexadecimal', Buffer.from(value).toString('hex')],
    ['in capital hexadecimal', Buffer.from(value).toString('hex').toUpperCase()],
    ['in a URL with small digits', encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['in a URL twice', encodeURIComponent(encodeURIComponent(value))],
    ['in JSON twice', JSON.stringify(JSON.stringify(value))],
    ['in JSON four times', JSON.stringify(JSON.stringify(JSON.stringify(JSON.stringify(value))))],
    ['in JSON that is made for a page', JSON.stringify(value).replaceAll(/[&<>]/g, toUnicodeEscape)],
    ['in JSON in a URL', encodeURIComponent(JSON.stringify(value))],
    ['in JSON in XML', escapeXmlText(JSON.stringify(value).slice(1, -1)).replaceAll('"', '&quot;')],
    ['in an element of XML', escapeXmlText(value)],
    ['in an attribute of XML', escapeXmlAttribute(value)],
    ['on a command line', value.replaceAll('"', '\\"')],
  ])('takes a secret out %s', (_, form) => {
    const text = redactor.redact(`before ${form} after`);
    expect(text).toContain('***');
    expect(text).toMatch(/^before .*after$/);
    for (const piece of ['sk_live_', form.slice(8, 20)]) expect(text).not.toContain(piece);
  });

  it.each([
    ['in a form', 'pass word+1/2', 'pass+word%2B1%2F2'],
    ['in a URL that encodes more', "it's (a) pass!", 'it%27s%20%28a%29%20pass%21'],
    ['in a shell', "it's a secret", String.raw`'it'\''s a secret'`],
    ["in a workflow's expression", "it's a secret", "'it''s a secret'"],
    ['in an HTML page', "it's a <secret>", 'it&#39;s a &lt;secret&gt;'],
    ['decoded', 'pass%2Fword%3D1', 'pass/word=1'],
    ['without the blanks around it', ' \t hunter22 \n', 'hunter22'],
    ['without the quotes around it', '"hunter22"', 'hunter22'],
    ['without the URL around it', 'postgres://app:p%40ss%2Fword@db:5432/orders', 'p@ss/word'],
  ])('takes a secret out %s', (_, secret, form) => {
    const clean = createRedactor([new Secret(secret)]).redact(`before ${form} after`);
    expect(clean).toMatch(/^before ['"]?\*\*\*['"]? after$/);
  });

  it('leaves other text as it was', () => {
    expect(redactor.redact('nothing to see: sk_live, ***')).toBe('nothing to see: sk_live, ***');
  });

  it('takes out every line of a secret of several, alone or together', () => {
    const key = createRedactor([new Secret('-----BEGIN KEY-----\r\nMIIabcdef\nghijklmnop\n-----END KEY-----')]);
    expect(key.redact('MIIabcdef and ghijklmnop')).toBe('*** and ***');
  });

  it('takes out the longer of two secrets whole', () => {
    const both = createRedactor([new Secret('abcdefgh'), new Secret('abcdefgh-suffix')]);
    expect(both.redact('abcdefgh-suffix abcdefgh')).toBe('*** ***');
  });

  it('takes out two secrets that overlap in a text, whole', () => {
    const both = createRedactor([new Secret('abcdefgh'), new Secret('efghijkl')]);
    expect(both.redact('-abcdefghijkl-')).toBe('-***-');
    expect(both.redact('abcdefghabcdefgh')).toBe('******');
  });

  it('does not shred text over a value too short to hide', () => {
    const short = createRedactor([new Secret('dev'), new Secret('')]);
    expect(short.redact('a developer')).toBe('a developer');
  });

  it('learns secrets later', () => {
    const later = createRedactor();
    expect(later.redact('token-123456')).toBe('token-123456');
    later.add(new Secret('token-123456'));
    expect(later.redact('token-123456')).toBe('***');
  });

  it('does not read a secret as a pattern', () => {
    const pattern = createRedactor([new Secret('a.*b$1$&')]);
    expect(pattern.redact('axxxxb$1$& a.*b$1$&')).toBe('axxxxb$1$& ***');
  });

  it('leaves no secret and no usual encoding of one in any text', () => {
    const secretText = oneof(string({ minLength: 6 }), string({ unit: 'binary', minLength: 6 }))
      // A value made of nothing but the replacement, or cut by an encoding that drops characters, hides nothing.
      .filter((text) => text.isWellFormed() && !text.includes('*') && !/[\r\n]/.test(text));
    const encodings = constantFrom<(text: string) => string>(
      (text) => text,
      (text) => encodeURIComponent(text),
      (text) => JSON.stringify(text).slice(1, -1),
      (text) => Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -2),
    );
    assert(
      property(
        secretText,
        array(tuple(string(), encodings), { maxLength: 6 }),
        integer({ min: 0, max: 2 }),
        (secret, parts, copies) => {
          const text = parts.map(([before, encode]) => `${before} ${encode(secret).repeat(copies)}`).join(' ');
          const clean = createRedactor([new Secret(secret)]).redact(text);
          expect(clean).not.toContain(secret);
          expect(clean).not.toContain(encodeURIComponent(secret));
          expect(clean).not.toContain(JSON.stringify(secret).slice(1, -1));
        },
      ),
      { numRuns: countDraws(2000) },
    );
  });

  it('survives text that is not well-formed, as a secret and around one', () => {
    const broken = createRedactor([new Secret('\ud800broken')]);
    expect(broken.redact('x \ud800broken \udfff')).toBe('x *** \udfff');
  });
});

describe('a text that was cut through a token', () => {
  const token = 'sk_live_9fK2mQ7xW4bT1zR8';
  const redactor = createRedactor([new Secret(token)]);

  it('keeps no more than eight characters of its beginning or end', () => {
    expect(redactor.redact(`key ${token.slice(0, 12)}… (9 more characters)`)).toBe('key ***… (9 more characters)');
    expect(redactor.redact(`${token.slice(-9)} was the key`)).toBe('*** was the key');
    expect(redactor.redact(`key ${token.slice(0, 8)}…`)).toBe('key sk_live_…');
    expect(redactor.redact(Buffer.from(`Bearer ${token}`).toString('base64').slice(0, -8))).toMatch(/^\S{0,20}\*\*\*$/);
  });

  it('leaks none of it wherever it is cut', () => {
    const text = `before ${token} between ${encodeURIComponent(token)}${token} ${Buffer.from(token).toString('hex')} after`;
    const forms = [token, Buffer.from(token).toString('hex')];
    const slices = forms.flatMap((form) =>
      Array.from({ length: form.length - 8 }, (_, index) => form.slice(index, index + 9)),
    );
    assert(
      property(integer({ min: 0, max: text.length }), integer({ min: 0, max: text.length }), (one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        for (const piece of [text.slice(0, from), text.slice(to)]) {
          const clean = redactor.redact(piece);
          expect(slices.filter((slice) => clean.includes(slice))).toEqual([]);
        }
      }),
      { numRuns: countDraws(50_000) },
    );
  });

  it('keeps no more of any other secret where the mark of a cut follows', () => {
    const phrase = `correct "horse" battery/staple`;
    const words = createRedactor([new Secret(phrase)]);
    for (let length = 1; length < phrase.length - 1; length += 1) {
      const kept = length > 8 ? '***' : phrase.slice(0, length);
      expect(words.redact(clipText(`say ${phrase}`, length + 5))).toBe(`say ${kept}…`);
    }
    expect(words.redact(`Unexpected token 'c', "${phrase.slice(0, 10)}"... is not valid JSON`)).toBe(
      'Unexpected token \'c\', "***"... is not valid JSON',
    );
    expect(words.redact(`{"said":${JSON.stringify(phrase).slice(0, 14)}…`)).toBe('{"said":"***…');
    expect(words.redact('correct "horse", said the rider')).toBe('correct "horse", said the rider');
  });

  it.each([
    ['a UUID', '6f1d2c3b-4a59-4e87-9b0c-1d2e3f4a5b6c', '6f1d2c3b-4', '6f1d2c3b'],
    ['a line of a private key', 'MIIEvQIBADANBgkqhkiG9w0B\n-----END', 'MIIEvQIBA', 'MIIEvQIB'],
    [
      'a token behind what its issuer puts before all',
      'github_pat_11ABCDEFG0x9Yz8Wv7Uu6',
      'github_pat_1',
      'github_pat_',
    ],
  ])('knows the beginning of %s', (_, secret, known, unknown) => {
    const token = createRedactor([new Secret(secret)]);
    expect(token.redact(`got ${known}`)).toBe('got ***');
    expect(token.redact(`got ${unknown}`)).toBe(`got ${unknown}`);
  });

  it.each(['production-eu-west-1a-blue', '/srv/builds/a1b2c3d4e5f6g7h8i9', 'postgres://localhost:5432/orders-2'])(
    'does not shred text over the beginning of %s, which is no token',
    (name) => {
      const words = createRedactor([new Secret(name)]);
      const beginning = name.slice(0, 12);
      expect(words.redact(`${name} ${beginning}`)).toBe(`*** ${beginning}`);
    },
  );
});

describe('redactDeep', () => {
  const redactor = createRedactor([new Secret('hunter22')]);

  it('redacts every text, however deep, and keeps the shape', () => {
    const value = { a: 'is hunter22', list: ['hunter22', { b: 'x hunter22 y' }], count: 3, isOn: true, none: null };
    expect(redactDeep(value, redactor)).toEqual({
      a: 'is ***',
      list: ['***', { b: 'x *** y' }],
      count: 3,
      isOn: true,
      none: null,
    });
    expect(value.a).toBe('is hunter22');
  });

  it('redacts names of members too, and leaves the structure alone', () => {
    expect(redactDeep({ 'is hunter22': 1, title: 2 }, redactor)).toEqual({ 'is ***': 1, title: 2 });
    const parsed: unknown = JSON.parse('{"__proto__": "hunter22"}');
    expect(JSON.stringify(redactDeep(parsed, redactor))).toBe('{"__proto__":"***"}');
  });
});

describe('a secret in an encoding around it', () => {
  const secret = `it's "<a&b>" and a Key-${'x7Q'.repeat(40)}`;
  const redactor = createRedactor([new Secret(secret)]);
  const base64 = Buffer.from(`before ${secret} after`).toString('base64');
  const wrap = (width: number, end: string) => base64.replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), `$&${end}`);
  const references = (encode: (code: number) => string) =>
    secret.replaceAll(/[^ ]/g, (each) => encode(each.charCodeAt(0)));

  it.each([
    ['base64 of MIME', wrap(76, '\r\n')],
    ['base64 of PEM', wrap(64, '\n')],
    ['base64 with an indent', wrap(60, '\n    ')],
    ['base64 in lines in JSON', JSON.stringify(wrap(76, '\r\n'))],
    ['base64 in lines in JSON in JSON', JSON.stringify(JSON.stringify(wrap(76, '\n')))],
    ['base64 in lines in an attribute of XML', wrap(76, '&#13;&#10;')],
    ['base64 for URLs in lines', wrap(76, '\n').replaceAll('+', '-').replaceAll('/', '_')],
    ['decimal references', references((code) => `&#${code};`)],
    ['hexadecimal references', references((code) => `&#x${code.toString(16).toUpperCase()};`)],
    ['references with zeros', references((code) => `&#00${code};`)],
    [
      'references as Go writes them',
      secret.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('"', '&#34;').replaceAll('<', '&lt;'),
    ],
    [
      'references in references',
      secret.replaceAll('&', '&amp;amp;').replaceAll("'", '&amp;#x27;').replaceAll('"', '&amp;quot;'),
    ],
  ])('is redacted: %s', (_, text) => {
    const clean = redactor.redact(`one ${text} two`);
    expect(clean).toMatch(/^one .*\*\*\*.* two$/s);
    expect(clean.length).toBeLessThan(60);
    expect(redactor.redact(text)).not.toContain(text.slice(40, 52));
  });

  it('leaves texts alone that hold no secret', () => {
    for (const text of ['a &amp; b &#10; c', `${'A'.repeat(76)}\n${'B'.repeat(76)}`, '&#x110000; &#99999999; &nope;']) {
      expect(redactor.redact(text)).toBe(text);
    }
  });
});
