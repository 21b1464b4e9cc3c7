/**
 * An MCP server on stdio without an SDK, whose arguments choose its tools: each kind of mistake that the explorer finds has a tool, and a
 * sound one next to it.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const structured = (value) => ({ ...text(JSON.stringify(value)), structuredContent: value });
const failure = (value) => ({ ...text(value), isError: true });
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const string = { type: 'string' };
const reads = { readOnlyHint: true };

/** Makes tools that are alike. */
function makeReaders(noun, count) {
  const entries = Array.from({ length: count }, (_, index) => [
    `get_${noun}_${index}`,
    {
      schema: object({ count: { type: 'integer' } }, []),
      hints: reads,
      call: ({ count = 0 }) => text(`${noun} ${index}: ${count}`),
    },
  ]);
  return Object.fromEntries(entries);
}

/** Asks a question that one answer is enough for. */
const once = (ask) => (args, answer) => (answer === undefined ? ask(args) : null);
const form = object({
  name: string,
  plan: { type: 'string', enum: ['free', 'team'] },
  seats: { type: 'integer', minimum: 2 },
});

const notes = new Map();
const books = [];
const mails = { contacts: [], sent: [] };
const address = { type: 'string', description: 'An address, such as `ann@example.com`' };
/** In another order in each process, as a file system or a hash map gives it. */
const unsorted = ['amber', 'blue', 'coral', 'denim', 'ebony', 'flax', 'green'].toSorted(() => Math.random() - 0.5);
/** The cards by their names, and the links between them, of each board by its id. */
const boards = new Map();
const graph = { people: new Map(), ties: [] };
const tie = object({ from: string, to: string, kind: string });
const cards = [];
const chores = new Map();
const choreId = { type: 'string', pattern: '^[0-9a-f-]{36}$' };
let database;
const remarks = new Map();
const map = { places: [{ name: 'Rome' }, { name: 'Oslo' }], roads: [{ from: 'Rome', to: 'Oslo' }], signs: {} };
const pages = new Set();
let wantsConsent = false;
let looks = 0;
const makePage = (name) => {
  pages.add(name);
  return text(`created ${name}`);
};
let calls = 0;
let tallies = 0;
// A file of the user, as many servers keep their state.
const diaryPath = `${process.env.HOME}/explored-diary.json`;
const readDiary = () => (existsSync(diaryPath) ? JSON.parse(readFileSync(diaryPath, 'utf8')) : []);
const saveSheet = (name, rows) => {
  writeFileSync(`${name}.sheet`, `${rows}\n`);
  return text(`${name} has ${rows} rows`);
};
const changeSheet = (name, change) => {
  if (!existsSync(`${name}.sheet`)) return structured({ success: false, error: `There is no sheet ${name}` });
  const changed = change(Number(readFileSync(`${name}.sheet`, 'utf8')));
  return typeof changed === 'string' ? text(changed) : saveSheet(name, changed);
};

/** The tools of each set, by the argument that chooses it. */
const sets = {
  notes: {
    create_note: {
      schema: object({ title: string, body: string }),
      hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      call: ({ title, body }) => {
        const note = { id: randomUUID(), title, body };
        notes.set(note.id, note);
        return structured(note);
      },
    },
    get_note: {
      schema: object({ noteId: string }),
      hints: reads,
      call: ({ noteId }) =>
        notes.has(noteId)
          ? structured(notes.get(noteId))
          : failure(`There is no note ${noteId}; use create_note first`),
    },
    list_notes: {
      hints: reads,
      call: () => structured({ count: notes.size, titles: [...notes.values()].map(({ title }) => title) }),
    },
    delete_note: {
      schema: object({ noteId: string }),
      hints: { destructiveHint: true },
      call: ({ noteId }) => (notes.delete(noteId) ? text('deleted') : failure(`There is no note ${noteId}`)),
    },
  },
  // Its list has parameters that select some of what was added.
  shelf: {
    add_book: {
      schema: object({ title: string, text: string, shelf: string }, ['title', 'text']),
      call: (book) => {
        books.push(book);
        return text(`Added ${book.title}.`);
      },
    },
    list_books: {
      schema: object(
        {
          limit: { type: 'integer' },
          offset: { type: 'integer' },
          search: string,
          shelf: string,
          full: { type: 'boolean' },
        },
        [],
      ),
      hints: reads,
      call: ({ limit, offset = 0, search = '', shelf, full = false }) => {
        const found = books.filter((book) => book.title.includes(search) && (shelf ?? book.shelf) === book.shelf);
        const shown = found.slice(offset, limit === undefined ? undefined : offset + limit);
        return structured({ total: found.length, books: shown.map((book) => (full ? book : { title: book.title })) });
      },
    },
  },
  // Each part of a card can be changed alone.
  cards: {
    add_card: {
      schema: object({ title: string, note: string }, ['title']),
      call: ({ title, note = '' }) => {
        cards.push({ id: cards.length + 1, title, note });
        return structured(cards.at(-1));
      },
    },
    update_card: {
      schema: object({ card_id: { type: 'integer' }, title: string, note: string }, ['card_id']),
      call: ({ card_id: id, ...parts }) => {
        if (cards[id - 1] === undefined) return failure(`There is no card ${id}`);
        Object.assign(cards[id - 1], parts);
        return text('Updated.');
      },
    },
    list_cards: { hints: reads, call: () => structured({ cards }) },
  },
  // What its options and its units do shows with some texts only.
  codes: {
    encode: {
      schema: object({ text: string, url_safe: { type: 'boolean', default: false } }, ['text']),
      hints: reads,
      call: ({ text: value, url_safe: isSafe = false }) =>
        text(
          Buffer.from(value)
            .toString(isSafe ? 'base64url' : 'base64')
            .replaceAll('=', ''),
        ),
    },
    convert_units: {
      description: 'Converts a number.\n\nSupported:\n  - length: m, yd\n  - weight: kg, lb, oz',
      schema: object({ value: { type: 'number' }, from_unit: string, to_unit: string }),
      hints: reads,
      call: ({ value, from_unit: from, to_unit: to }) => {
        const factors = [
          { m: 1, yd: 0.9144 },
          { kg: 1, lb: 0.45359237, oz: 0.028349523125 },
        ];
        const list = factors.find((each) => from in each && to in each);
        return list === undefined
          ? failure(`Cannot convert ${from} to ${to}`)
          : text(`${(value * list[from]) / list[to]} ${to}`);
      },
    },
  },
  // Their ids are random, and stand in sentences.
  chores: {
    split_work: {
      schema: object({ work: string }),
      call: ({ work }) => {
        const id = randomUUID();
        chores.set(id, 'open');
        return text(`Split "${work}" into one part.\n\n- **Chore ID:** \`${id}\``);
      },
    },
    show_chore: {
      schema: object({ choreId }),
      hints: reads,
      call: ({ choreId: id }) => (chores.has(id) ? text(`It is ${chores.get(id)}.`) : failure('Unknown chore')),
    },
    // It says that it knows none without the flag of an error.
    execute_chore: {
      schema: object({ choreId }),
      call: ({ choreId: id }) => {
        if (!chores.has(id)) return text('Nothing to do.');
        chores.set(id, 'started');
        return text('Started.');
      },
    },
    verify_chore: {
      schema: object({ choreId }),
      call: ({ choreId: id }) =>
        chores.get(id) === 'started' ? text('Verified.') : failure('Nothing was started under this id'),
    },
  },
  diary: {
    add_entry: {
      schema: object({ text: string }),
      call: (entry) => {
        writeFileSync(diaryPath, JSON.stringify([...readDiary(), entry]));
        return structured({ count: readDiary().length });
      },
    },
    count_entries: { hints: reads, call: () => structured({ count: readDiary().length }) },
  },
  remarks: {
    create_entity: {
      schema: object({ name: string }),
      hints: { readOnlyHint: false },
      call: ({ name }) => {
        remarks.set(name, []);
        return text(`created ${name}`);
      },
    },
    add_remark: {
      schema: object({ entityName: string, remark: string }),
      hints: { readOnlyHint: false },
      call: ({ entityName, remark }) => {
        if (!remarks.has(entityName)) return failure(`There is no entity ${entityName}`);
        remarks.get(entityName).push(remark);
        return text(`${entityName} has ${remarks.get(entityName).length} remarks`);
      },
    },
    // Nothing but its state connects it to the others.
    publish: { call: () => (remarks.size === 0 ? failure('nothing to publish') : text('published')) },
  },
  // A refused call is remembered, and the next one answered.
  // No annotation says that these read: the explorer has to find out.
  places: {
    open_places: {
      schema: object({ names: { type: 'array', items: string } }),
      call: ({ names }) => structured({ places: map.places.filter(({ name }) => names.includes(name)) }),
    },
    read_map: { call: () => structured(map) },
    add_road: {
      schema: object({ road: object({ from: string, to: string }), dryRun: { type: 'boolean' } }, ['road']),
      call: ({ road, dryRun }) => {
        if (dryRun !== true) map.roads.push(road);
        return structured({ added: road });
      },
    },
    // Its optional member says what is removed.
    remove_signs: {
      schema: object({
        removals: {
          type: 'array',
          items: object({ place: string, signs: { type: 'array', items: string } }, ['place']),
        },
      }),
      call: ({ removals }) => {
        for (const { place, signs = [] } of removals)
          map.signs[place] = map.signs[place]?.filter((sign) => !signs.includes(sign));
        return text('removed');
      },
    },
    add_sign: {
      schema: object({ place: string, signs: { type: 'array', items: string } }),
      call: ({ place, signs }) => {
        map.signs[place] = [...(map.signs[place] ?? []), ...signs];
        return text('added');
      },
    },
  },
  consent: {
    open_site: {
      schema: object({ site: string }),
      refuse: () => {
        wantsConsent = !wantsConsent;
        return wantsConsent ? { code: -32_042, message: 'Open the site first' } : null;
      },
      call: ({ site }) => text(`opened ${site}`),
    },
    press_button: { call: () => text('pressed') },
  },
  // Its errors have no flag, as those of servers that return whatever a function returns.
  pages: {
    create_page: { schema: object({ pageName: string }), call: ({ pageName }) => makePage(pageName) },
    add_title: {
      schema: object({ pageName: string, title: string }),
      call: ({ pageName, title }) => text(pages.has(pageName) ? `titled ${title}` : `Page ${pageName} does not exist`),
    },
    show_page: {
      schema: object({ pageName: string }),
      call: ({ pageName }) => text(pages.has(pageName) ? `page ${pageName}` : `Page ${pageName} does not exist`),
    },
    print_page: { schema: object({ pageName: string }), call: () => text('Failed to print: no printer') },
  },
  // All state is in a file of the working directory, and one of many makers makes what another tool needs.
  sheets: {
    create_sheet: { schema: object({ sheetName: string }), call: ({ sheetName }) => saveSheet(sheetName, 0) },
    ...Object.fromEntries(
      ['add_chart', 'add_comment', 'add_image', 'add_style', 'add_row'].map((name) => [
        name,
        {
          schema: object({ sheetName: string }),
          call: ({ sheetName }) => changeSheet(sheetName, (rows) => rows + Number(name === 'add_row')),
        },
      ]),
    ),
    paint_cell: {
      schema: object({ sheetName: string }),
      call: ({ sheetName }) =>
        changeSheet(sheetName, (rows) => (rows === 0 ? 'Invalid cell. The sheet has 0 rows.' : rows)),
    },
  },
  radio: {
    set_volume: {
      schema: object({ level: { type: 'integer' }, duration: { type: 'integer' } }, ['level']),
      hints: reads,
      call: ({ level }) =>
        level >= 0 && level <= 1100 ? text(`The volume is ${level}.`) : failure('level must be between 0 and 1,100'),
    },
    use_band: {
      schema: object({ band: { type: 'integer' } }),
      hints: reads,
      call: ({ band }) => ([1, 4].includes(band) ? text('tuned') : failure('Only the bands 1 and 4 can be used')),
    },
    tune: {
      schema: object({ stationId: { type: 'integer' } }),
      hints: reads,
      call: ({ stationId }) => (stationId === 1 ? text('tuned') : failure(`There is no station ${stationId}`)),
    },
    name_station: {
      schema: object({ name: string, remark: string }),
      hints: reads,
      call: ({ name }) => (name.length > 30 ? failure('A name has less than 31 characters') : text('named')),
    },
  },
  sites: {
    fetch_site: {
      schema: object({ url: string }),
      hints: reads,
      call: ({ url }) => {
        if (!url.startsWith('http')) return structured({ error: 'only URLs of http are allowed' });
        const isOwn = new URL(url).hostname === '127.0.0.1';
        return structured({ error: isOwn ? '127.0.0.1 is not public' : 'connect ECONNREFUSED' });
      },
    },
  },
  words: {
    shout: {
      schema: object(
        {
          message: string,
          mark: { type: 'string', enum: ['!', '?'], default: '!' },
          times: { type: 'integer', minimum: 1, maximum: 5 },
        },
        ['message'],
      ),
      hints: reads,
      call: ({ message, mark = '!', times = 1 }) => text(message.toUpperCase() + mark.repeat(times)),
    },
    show_month: {
      schema: object({ day: string }),
      hints: reads,
      call: ({ day }) =>
        /^\d{2}\.\d{2}\.\d{4}$/.test(day)
          ? text(`month ${day.slice(3, 5)}`)
          : failure("day must look like '24.12.2023'"),
    },
    at_random: { hints: reads, call: () => structured({ id: randomUUID(), number: Math.random(), kind: 'draw' }) },
  },
  dates: {
    plan_parcel: {
      hints: reads,
      call: () => {
        const now = new Date();
        const at = now.toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
        return structured({
          slot: now.getUTCDate(),
          kind: 'parcel',
          size: Date.UTC(2024) / 1e9,
          at,
          year: now.getUTCFullYear(),
        });
      },
    },
  },
  // Its ids are those of nothing, unless another tool takes one.
  uuids: { generate_uuid: { call: () => structured({ uuid: randomUUID() }) } },
  chance: {
    roll_dice: { call: () => text(`The dice show ${String(Math.random()).slice(2, 12)} points`) },
    tally: { call: () => text(`This is call ${(tallies += 1)}`) },
  },
  watched: {
    get_mood: { hints: reads, call: () => text(process.env.EXPLORER_CANARY ? 'Calm and watched' : 'Wild and alone') },
  },
  crash: { explode: { hints: reads, call: () => process.exit(9) } },
  hang: {
    spin: {
      hints: reads,
      call: () => {
        for (;;);
      },
    },
  },
  protocol: { malformed: { hints: reads, call: () => ({ content: 'no list' }) } },
  noise: {
    chatter: {
      hints: reads,
      call: () => {
        process.stdout.write('debug: called\n');
        return text('done');
      },
    },
  },
  'output-schema': {
    measure: { output: object({ size: { type: 'number' } }), hints: reads, call: () => structured({ size: 'large' }) },
  },
  'document-text': {
    add_rows: {
      schema: object({ rows: { type: 'string', description: 'Rows, such as [{"name": "alpha", "level": "high"}]' } }),
      hints: reads,
      call: ({ rows }) =>
        failure(
          rows.startsWith('[')
            ? '[{"code":"invalid_type","expected":"number","received":"string","path":[0,"level"]}]'
            : 'rows is not valid JSON',
        ),
    },
  },
  'error-flag': { fetch_page: { hints: reads, call: () => text('TypeError: page is undefined') } },
  'schema-too-strict': {
    set_level: {
      schema: object({ level: string }),
      hints: reads,
      call: () => failure('[{"code":"invalid_type","expected":"number","received":"string","path":["level"]}]'),
    },
  },
  'schema-default': {
    find_zone: {
      schema: object({ zone: { type: 'string', enum: ['north', 'south'] } }),
      hints: reads,
      call: ({ zone }) => (zone === 'south' ? failure('zone: invalid value south') : text(zone)),
    },
  },
  'leak-variable': { get_status: { hints: reads, call: () => text(JSON.stringify(Object.values(process.env))) } },
  environment: { get_environment: { hints: reads, call: () => text(JSON.stringify(process.env)) } },
  'leak-file': {
    read_text: {
      schema: object({ path: string }),
      hints: reads,
      call: ({ path }) => (isFile(path) ? text(readFileSync(path, 'utf8')) : failure('not found')),
    },
  },
  'leak-stack': { get_report: { hints: reads, call: () => failure(String(new Error('broken').stack)) } },
  'read-only-file': {
    count_lines: {
      hints: reads,
      call: () => {
        appendFileSync('counted.txt', 'once more\n');
        return text('3');
      },
    },
  },
  'read-only-state': {
    peek_calls: {
      hints: reads,
      call: () => {
        calls += 1;
        return text('peeked');
      },
    },
    list_calls: { hints: reads, call: () => structured({ calls }) },
  },
  sizes: {
    list_sizes: {
      hints: reads,
      call: () => {
        const sizes = readdirSync('.').map((name) => ({ name, size: statSync(name).size }));
        const lines = sizes.toSorted((a, b) => b.size - a.size).map(({ name, size }) => `${name} has ${size} bytes`);
        return text(`In ${process.cwd()}:\n${lines.join('\n')}\nThe end`);
      },
    },
  },
  'read-only-sound': { list_files: { hints: reads, call: () => structured({ files: readdirSync('.').toSorted() }) } },
  'idempotent-lie': {
    put_entry: {
      schema: object({ entry: string }),
      hints: { idempotentHint: true },
      call: ({ entry }) => {
        appendFileSync('entries.txt', `${entry}\n`);
        return text('put');
      },
    },
  },
  'idempotent-sound': {
    put_entry: {
      schema: object({ entry: string }),
      hints: { idempotentHint: true },
      call: ({ entry }) => {
        writeFileSync('entries.txt', `${entry}\n`);
        return text('put');
      },
    },
  },
  'destructive-hint-missing': {
    tidy_up: {
      hints: { destructiveHint: false },
      call: () => {
        rmSync('notes.txt', { force: true });
        return text('tidy');
      },
    },
  },
  'schema-too-loose': {
    repeat_word: { schema: object({ word: string }), hints: reads, call: ({ word }) => text(`${word} ${word}`) },
  },
  failing: {
    try_first: { hints: reads, call: () => failure('not today') },
    try_second: { schema: object({ name: string }), call: () => failure('not today either') },
  },
  asking: { ask_user: { hints: reads, asks: true, call: () => text('asked') } },
  abilities: {
    book_seat: {
      schema: object({ topic: string }),
      hints: reads,
      question: once(({ topic }) => ({
        method: 'elicitation/create',
        params: { message: `Who asks about ${topic}?`, requestedSchema: form },
      })),
      call: (_, { action, content }) => text(`${action}: ${content.name}, ${content.plan}, ${content.seats}`),
    },
    summarize: {
      hints: reads,
      question: once(() => ({
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'What is tea?' } }], maxTokens: 10 },
      })),
      call: (_, { content }) => text(`the model says: ${content.text}`),
    },
    count_roots: {
      hints: reads,
      // Asks before each of its steps, as servers do that keep nothing.
      question: () => (looks++ % 12 < 11 ? { method: 'roots/list' } : null),
      call: (_, { roots }) =>
        text(`${roots.length} root, ${existsSync(new URL(`${roots[0].uri}/notes.txt`)) ? 'with' : 'without'} notes`),
    },
    // Listed for a client that offers sampling only.
    use_model: { hints: reads, needs: 'sampling', call: () => text('a model is offered') },
  },
  // Each answer leads to the next question, as long as the user accepts, or forever.
  insisting: {
    insist: {
      hints: reads,
      question: (_, answer) =>
        answer === undefined || answer.action === 'accept'
          ? { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: object({ sure: string }) } }
          : null,
      call: (_, { action }) => text(action),
    },
    never_content: {
      hints: reads,
      question: () => ({ method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: object({}) } }),
      call: () => text('never'),
    },
  },
  flooding: {
    pour: {
      hints: reads,
      call: () => {
        for (let count = 0; count < 2000; count += 1)
          send({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(200) } });
        for (let count = 0; count < 500; count += 1) writeFileSync(`flood-${count}.txt`, 'x');
        return text('poured');
      },
    },
  },
  slow: {
    wait_long: {
      hints: reads,
      call: () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000);
        return text('at last');
      },
    },
  },
  vanishing: {
    remove_all: {
      call: () => {
        rmSync(process.cwd(), { recursive: true, force: true });
        return text('gone');
      },
    },
  },
  // A database in memory. No annotation says which of its tools change something.
  graph: {
    add_people: {
      schema: object({ people: { type: 'array', items: object({ personName: string, city: string }) } }),
      call: ({ people }) => {
        const added = people.filter(({ personName }) => !graph.people.has(personName));
        for (const person of added) graph.people.set(person.personName, person);
        return structured({ added });
      },
    },
    add_ties: {
      schema: object({ ties: { type: 'array', items: tie } }),
      call: ({ ties }) => {
        const unknown = ties.flatMap(({ from, to }) => [from, to]).find((name) => !graph.people.has(name));
        if (unknown !== undefined) return failure(`There is no ${unknown}.`);
        graph.ties = [...new Map([...graph.ties, ...ties].map((each) => [JSON.stringify(each), each])).values()];
        return text('Added.');
      },
    },
    remove_ties: {
      schema: object({ ties: { type: 'array', items: tie } }),
      call: ({ ties }) => {
        const removed = new Set(ties.map((each) => JSON.stringify(each)));
        graph.ties = graph.ties.filter((each) => !removed.has(JSON.stringify(each)));
        return text('Removed.');
      },
    },
    remove_people: {
      schema: object({ personNames: { type: 'array', items: string } }),
      call: ({ personNames }) => {
        for (const name of personNames) graph.people.delete(name);
        graph.ties = graph.ties.filter(({ from, to }) => graph.people.has(from) && graph.people.has(to));
        return text('Removed.');
      },
    },
    list_people: {
      hints: reads,
      call: () => structured({ people: [...graph.people.values()], ties: graph.ties }),
    },
  },
  // Files that one tool makes and another one reads, and numbers of what a file has.
  packs: {
    pack_file: {
      schema: object({ path: string, target_pack_file: string }),
      call: ({ path, target_pack_file: target }) => {
        if (!isFile(path) || existsSync(target)) return failure('It is no file, or is there already.');
        writeFileSync(target, `PACK ${readFileSync(path, 'utf8')}`);
        return text('packed');
      },
    },
    unpack_file: {
      schema: object({ target_path: string, pack_file: string }),
      call: ({ target_path: target, pack_file: path }) => {
        const content = isFile(path) ? readFileSync(path, 'utf8') : '';
        if (!content.startsWith('PACK ')) return failure('It is no pack.');
        if (existsSync(target)) return failure(`${target} already exists!`);
        writeFileSync(target, content.slice(5));
        return text('unpacked');
      },
    },
    read_end: {
      hints: reads,
      schema: object({ path: string, lines: { type: 'integer', minimum: 1 } }),
      call: ({ path, lines }) => {
        if (!existsSync(path)) return failure('not found');
        if (!isFile(path)) return failure('The path must be that of a file.');
        return text(readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n'));
      },
    },
    find_texts: {
      hints: reads,
      schema: object({ path: string, min_bytes: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }, ['path']),
      call: ({ path, min_bytes: least }) => {
        if (!existsSync(path)) return failure('not found');
        if (isFile(path)) return failure('The path must be that of a directory.');
        const isText = (name) => isFile(join(path, name)) && statSync(join(path, name)).size >= (least ?? 0);
        return structured({ texts: readdirSync(path).filter(isText).toSorted() });
      },
    },
  },
  // In each process, they come in another order.
  unsorted: {
    list_files: { hints: reads, call: () => text(unsorted.map((name) => `[FILE] ${name}`).join('\n')) },
    list_colors: { hints: reads, call: () => structured({ count: unsorted.length, colors: unsorted }) },
  },
  // Each tool takes the id of a board, which the first one makes.
  boards: {
    create_board: {
      schema: object({ title: string }),
      call: ({ title }) => {
        const boardId = `board-${title}-${randomUUID()}`;
        boards.set(boardId, { cards: new Map(), links: [] });
        return structured({ boardId });
      },
    },
    add_cards: {
      schema: object({ boardId: string, cards: { type: 'array', items: object({ cardName: string, text: string }) } }),
      call: ({ boardId, cards }) =>
        onBoard(boardId, (board) => {
          for (const card of cards) board.cards.set(card.cardName, card);
        }),
    },
    add_links: {
      schema: object({ boardId: string, links: { type: 'array', items: object({ from: string, to: string }) } }),
      call: ({ boardId, links }) =>
        onBoard(boardId, (board) => {
          const isKnown = links.every(({ from, to }) => board.cards.has(from) && board.cards.has(to));
          if (isKnown) board.links.push(...links);
        }),
    },
    remove_cards: {
      schema: object({ boardId: string, cardNames: { type: 'array', items: string } }),
      call: ({ boardId, cardNames }) =>
        onBoard(boardId, (board) => {
          for (const name of cardNames) board.cards.delete(name);
        }),
    },
    list_cards: {
      hints: reads,
      schema: object({ boardId: string }),
      call: ({ boardId }) => onBoard(boardId, () => {}),
    },
  },
  mails: {
    add_contacts: {
      schema: object({ contacts: { type: 'array', items: object({ contactName: string }) } }),
      call: ({ contacts }) => text(`${mails.contacts.push(...contacts)} contacts`),
    },
    add_mails: {
      schema: object({ mails: { type: 'array', items: object({ to: address, title: string }) } }),
      call: ({ mails: added }) => {
        const isWrong = added.some(({ to }) => !to.includes('@'));
        return isWrong ? failure('An address has an @.') : text(`${mails.sent.push(...added)} mails`);
      },
    },
    list_mails: { hints: reads, call: () => structured(mails) },
  },
  records: {
    run_query: { schema: object({ sql: string }), call: ({ sql }) => runStatement(sql) },
    list_tables: { call: () => runStatement("SELECT name FROM sqlite_master WHERE type = 'table'") },
    read_rows: {
      schema: object({ tableName: string, limit: { type: 'integer', minimum: 1 } }, ['tableName']),
      call: ({ tableName, limit = 100 }) => runStatement(`SELECT * FROM "${tableName}" LIMIT ${limit}`),
    },
    insert_row: {
      schema: object({ tableName: string, data: { type: 'object', additionalProperties: {} } }),
      call: ({ tableName, data }) => {
        const columns = Object.keys(data);
        const places = columns.map(() => '?').join(', ');
        return runStatement(
          `INSERT INTO "${tableName}" (${columns.join(', ')}) VALUES (${places})`,
          ...Object.values(data),
        );
      },
    },
  },
  // Each runs as a task only, which has these states in turn; the last one stays.
  tasks: {
    survey_topic: {
      schema: object({ topic: string, depth: { type: 'integer', minimum: 1, maximum: 3 } }, ['topic']),
      states: ['working', 'completed'],
      call: ({ topic, depth = 1 }) => text(`found ${depth} of ${topic}`),
    },
    survey_with_question: {
      schema: object({ topic: string }),
      states: ['input_required'],
      question: once(() => ({ method: 'elicitation/create', params: { message: 'Why?', requestedSchema: form } })),
      call: ({ topic }, { action }) => text(`${action} ${topic}`),
    },
    survey_in_vain: {
      schema: object({ topic: string }),
      states: ['working', 'failed'],
      call: ({ topic }) => text(`nothing is known of ${topic}`),
    },
    survey_cancelled: { schema: object({ topic: string }), states: ['cancelled'], call: () => text('') },
  },
  endless: { survey_without_end: { schema: object({ topic: string }), states: ['working'], call: () => text('') } },
  many: makeReaders('item', 60),
  more: makeReaders('part', 20),
};

const tools = Object.assign({}, ...process.argv.slice(2).map((name) => sets[name]));
const isFile = (path) => existsSync(path) && statSync(path).isFile();

/** Does something with a board, and answers with what is on it. */
function onBoard(boardId, change) {
  const board = boards.get(boardId);
  if (board === undefined) return failure(`There is no board ${boardId}.`);
  change(board);
  return structured({ cards: [...board.cards.values()], links: board.links });
}

/** Runs a statement, and answers with the rows that it reads, or the number of those that it changes. */
function runStatement(sql, ...values) {
  database ??= new DatabaseSync(':memory:');
  try {
    const statement = database.prepare(sql);
    if (statement.columns().length > 0) return structured({ rows: statement.all(...values) });
    return text(`${statement.run(...values).changes} rows changed`);
  } catch (error) {
    return failure(error.message);
  }
}

if (process.argv.includes('start-noise')) process.stdout.write(`Serving ${process.argv.at(-1)}\n`);
const isLoose = process.argv.includes('schema-too-loose');

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** Refuses missing arguments and wrong types, as frameworks do. */
function findMistake({ properties = {}, required = [] }, args) {
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) return `${missing} is required`;
  const wrong = Object.entries(args).find(([name, value]) => {
    const { type, enum: members, minimum = -Infinity, maximum = Infinity } = properties[name] ?? {};
    if (type === 'integer') return !Number.isInteger(value) || value < minimum || value > maximum;
    return (type === 'string' && typeof value !== 'string') || members?.includes(value) === false;
  });
  return wrong === undefined ? null : `${wrong[0]} is invalid`;
}

const isModern = process.argv.includes('modern');
const hasTours = process.argv.includes('tours');
const runsTasks = process.argv.includes('runs-tasks');
const clientKey = 'io.modelcontextprotocol/clientCapabilities';
/** The capabilities of the client. */
let client = {};

const answers = {
  ...(isModern && {
    'server/discover': () => ({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'explored', version: '1.2.3' } },
    }),
  }),
  ...(!isModern && { initialize }),
  ping: () => ({}),
  'tools/list': listTools,
  ...(runsTasks && { 'tasks/get': getTask }),
  ...(hasTours && { 'prompts/list': listPrompts, 'prompts/get': getPrompt, 'completion/complete': complete }),
};

function initialize({ capabilities }) {
  client = capabilities;
  return {
    protocolVersion: '2025-11-25',
    capabilities: {
      tools: {},
      ...(hasTours && { prompts: {}, completions: {} }),
      ...(runsTasks && { tasks: { requests: { tools: { call: {} } } } }),
    },
    serverInfo: { name: 'explored', version: process.env.VERSION ?? '1.2.3' },
  };
}

function listPrompts() {
  const argument = (name, required) => ({ name, required });
  const listed = [argument('city', true), argument('street', false), argument('days', false)];
  return { prompts: [{ name: 'plan_tour', arguments: listed }] };
}

function getPrompt({ arguments: { city, street = 'any street', days = '1' } }) {
  if (!/^\d+$/.test(days))
    return { error: { code: -32_602, message: `Invalid days: ${days}. Must be a positive integer.` } };
  const said = `Plan a tour of ${city}, from ${street}, of ${days} days.`;
  return { messages: [{ role: 'user', content: { type: 'text', text: said } }] };
}

/** Completes a city, and a street of the city that is chosen. */
function complete({ argument: { name, value }, context = {} }) {
  const streets = { Oslo: ['Akersgata', 'Bygata'] }[context.arguments?.city] ?? [];
  const known = { city: ['Oslo', 'Riga', 'Rome'], street: streets }[name] ?? [];
  return { completion: { values: known.filter((each) => each.startsWith(value)) } };
}

function listTools() {
  return {
    tools: Object.entries(tools)
      .filter(([, { needs }]) => needs === undefined || client[needs] !== undefined)
      .map(
        ([
          name,
          { schema = object({}), output, hints, states, description = `Runs ${name.replaceAll('_', ' ')}` },
        ]) => ({
          name,
          description,
          ...(states !== undefined && { execution: { taskSupport: 'required' } }),
          inputSchema: schema,
          ...(output !== undefined && { outputSchema: output }),
          ...(hints !== undefined && { annotations: hints }),
        }),
      ),
  };
}

const tasks = new Map();

function getTask({ taskId }) {
  const { states } = tasks.get(taskId);
  if (states.length > 1) states.shift();
  return { taskId, status: states[0], ttl: null, pollInterval: 50 };
}

let asked = 0;
/** Waits for answers of the client to requests. */
const waiting = new Map();

async function ask(question) {
  asked += 1;
  const id = `ask-${asked}`;
  send({ id, ...question });
  return await new Promise((resolve) => {
    waiting.set(id, resolve);
  });
}

/** Answers a call whose tool asks the client first: with requests, or with results that require input. */
async function callAsking(tool, { arguments: args = {}, inputResponses }) {
  let answer = inputResponses?.only;
  let question = tool.question(args, answer);
  if (isModern) {
    return question === null
      ? tool.call(args, answer)
      : { resultType: 'input_required', inputRequests: { only: question } };
  }
  while (question !== null) {
    ({ result: answer = { action: 'refused' } } = await ask(question));
    question = tool.question(args, answer);
  }
  return tool.call(args, answer);
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { id, method, params = {} } = message;
  if (id !== undefined && method === undefined) waiting.get(id)?.(message);
  if (id === undefined || method === undefined) continue;
  if (isModern) client = params._meta?.[clientKey] ?? {};
  if (method === 'tasks/result') {
    const { tool, call } = tasks.get(params.taskId);
    if (tool.question === undefined) send({ id, result: tool.call(call.arguments) });
    else void callAsking(tool, call).then((result) => send({ id, result }));
    continue;
  }
  if (method !== 'tools/call') {
    const answer = answers[method]?.(params);
    send({
      id,
      ...(answer === undefined && { error: { code: -32_601, message: 'Method not found' } }),
      ...(answer?.error === undefined ? { result: answer } : answer),
    });
    continue;
  }
  const { name, arguments: args = {} } = params;
  const tool = tools[name];
  const mistake = isLoose ? null : findMistake(tool.schema ?? {}, args);
  if (mistake !== null) {
    send({ id, error: { code: -32_602, message: mistake } });
    continue;
  }
  const refusal = tool.refuse?.(args) ?? null;
  if (refusal !== null) {
    send({ id, error: refusal });
    continue;
  }
  if (tool.states !== undefined && params.task === undefined) {
    send({ id, result: failure(`${name} runs as a task only`) });
    continue;
  }
  if (tool.states !== undefined) {
    const taskId = `task-${tasks.size + 1}`;
    tasks.set(taskId, { tool, call: params, states: ['working', ...tool.states] });
    send({ id, result: { task: { taskId, status: 'working', ttl: null, pollInterval: 50 } } });
    continue;
  }
  if (tool.asks === true) {
    asked += 1;
    send({
      id: `ask-${asked}`,
      method: 'elicitation/create',
      params: { message: 'Sure?', requestedSchema: object({}) },
    });
  }
  if (tool.question === undefined) send({ id, result: tool.call(args) });
  else void callAsking(tool, params).then((result) => send({ id, result }));
}
