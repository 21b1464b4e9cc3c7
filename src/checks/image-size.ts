/** The stored dimensions in pixels, without the rotation that metadata may ask for. */
export interface ImageSize {
  width: number;
  height: number;
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads the dimensions of a PNG, JPEG, GIF or WebP image from its header; null if the bytes have another format or are cut off. */
export function readImageSize(bytes: Buffer): ImageSize | null {
  try {
    if (bytes.subarray(0, 8).equals(pngSignature) && readName(bytes, 12) === 'IHDR') {
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    }
    if (readName(bytes, 0) === 'GIF8') return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (readName(bytes, 0) === 'RIFF' && readName(bytes, 8) === 'WEBP') return readWebp(bytes);
    return bytes.readUInt16BE(0) === 0xffd8 ? readJpeg(bytes) : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readName(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, offset + 4);
}

/** Reads the dimensions of a WebP image (RFC 9649 §2.5 to 2.7). */
function readWebp(bytes: Buffer): ImageSize | null {
  switch (readName(bytes, 12)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

/** Skips JPEG segments up to the first frame (ITU-T T.81, annex B). */
function readJpeg(bytes: Buffer): ImageSize | null {
  let offset = 2;
  while (bytes.readUInt8(offset) === 0xff) {
    const marker = bytes.readUInt8(offset + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) };
    // A second 0xff is padding. These markers have no length. No frame follows the last two.
    if (marker === 0xff) offset += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) offset += 2;
    else if (marker === 0xd9 || marker === 0xda) return null;
    else offset += 2 + bytes.readUInt16BE(offset + 2);
  }
  return null;
}
