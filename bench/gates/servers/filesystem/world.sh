# Text files, a directory in a directory, an image of one pixel, an empty file, a link that leads out, and a file of two kilobytes.
mkdir -p notes/old empty
printf 'Alpha\nBeta\nGamma\nDelta\nEpsilon\n' > notes/greek.txt
printf '# Title\n\n  indented\n\ttab\nlast line without an end' > notes/readme.md
printf 'old\n' > notes/old/archive.txt
printf '{"a": 1}\n' > data.json
printf 'one\r\ntwo\r\nthree\r\n' > windows.txt
printf 'price: $5 and $& again\n' > price.txt
: > blank.txt
printf 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' | base64 -d > pixel.png
printf 'RIFF....WAVE' > sound.wav
printf '\001\002\003' > raw.bin
i=0; while [ $i -lt 64 ]; do printf 'line %02d of the long file, padded\n' $i; i=$((i + 1)); done > long.txt
ln -s /etc/hostname outside
touch -d '2024-01-02 03:04:05 UTC' notes/greek.txt data.json
chmod 640 data.json
