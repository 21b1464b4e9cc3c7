import { crc32 } from 'node:zlib';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const schemas = 'http://schemas.openxmlformats.org';
const relations = `${schemas}/officeDocument/2006/relationships`;
const rows: ReadonlyArray<ReadonlyArray<string | number>> = [
  ['name', 'count'],
  ['alpha', 2],
  ['beta', 3],
];

/** The fonts, fills, borders and formats that each cell has at least. */
const styles =
  '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf xfId="0"/></cellXfs>';

/** Writes a workbook with the sheet `Sheet1`: a header and two rows (ISO/IEC 29500-1, 12, and 29500-2 for the package). */
export function writeWorkbook(): Buffer {
  const cells = rows.map((row, index) => {
    const written = row.map((value, column) => {
      const at = `r="${String.fromCodePoint(65 + column)}${index + 1}"`;
      return typeof value === 'number'
        ? `<c ${at}><v>${value}</v></c>`
        : `<c ${at} t="inlineStr"><is><t>${value}</t></is></c>`;
    });
    return `<row r="${index + 1}">${written.join('')}</row>`;
  });
  const main = `xmlns="${schemas}/spreadsheetml/2006/main"`;
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${writeTypes({ workbook: 'sheet.main', 'worksheets/sheet1': 'worksheet', styles: 'styles' })}</Types>`,
    '_rels/.rels': writeRelations({ officeDocument: 'xl/workbook.xml' }),
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${relations}"><bookViews><workbookView/></bookViews><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': writeRelations({ worksheet: 'worksheets/sheet1.xml', styles: 'styles.xml' }),
    'xl/worksheets/sheet1.xml': `<worksheet ${main}><dimension ref="A1:B${rows.length}"/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData>${cells.join('')}</sheetData></worksheet>`,
    'xl/styles.xml': `<styleSheet ${main}>${styles}</styleSheet>`,
  };
  return writeZip(Object.entries(parts).map(([name, content]) => [name, Buffer.from(head + content)]));
}

function writeTypes(types: Readonly<Record<string, string>>): string {
  return Object.entries(types)
    .map(
      ([part, type]) =>
        `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`,
    )
    .join('');
}

function writeRelations(targets: Readonly<Record<string, string>>): string {
  const written = Object.entries(targets).map(
    ([kind, target], index) => `<Relationship Id="rId${index + 1}" Type="${relations}/${kind}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${schemas}/package/2006/relationships">${written.join('')}</Relationships>`;
}

/** The first of January 1980, which a ZIP archive can have at the earliest. */
const firstDay = 0x21;

/** Writes an archive without compression and with a fixed date (PKWARE APPNOTE 6.3, 4.3). */
function writeZip(entries: ReadonlyArray<readonly [name: string, content: Buffer]>): Buffer {
  const bodies: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of entries) {
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(firstDay, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(title.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const body = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, title, content]);
    list.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), common, place, title]));
    bodies.push(body);
    offset += body.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}
