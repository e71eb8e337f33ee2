// ALiBi (Press et al. 2022) in JavaScript, as a worker without any helper: node subjects/examples/alibi_worker.mjs
import { readSync, writeSync } from "node:fs";

// Exactly so many bytes of standard input, or null at its end.
function read(size) {
  const bytes = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    const got = readSync(0, bytes, done, size - done);
    if (got === 0) return null;
    done += got;
  }
  return bytes;
}

function write(bytes) {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

function integers(data, tensor) {
  const [begin, end] = tensor.data_offsets;
  return Array.from({ length: (end - begin) / 8 }, (_, i) => Number(data.readBigInt64LE(begin + 8 * i)));
}

function bias(spec, query, key) {
  const { num_heads: heads, bias_max: most } = spec;
  const values = new Float32Array(heads * query.length * key.length);
  let at = 0;
  for (let h = 1; h <= heads; ++h)
    for (const q of query) for (const k of key) values[at++] = -(2 ** ((-most * h) / heads)) * Math.abs(q - k);
  return { bias: { dtype: "F32", shape: [heads, query.length, key.length], bytes: Buffer.from(values.buffer) } };
}

for (let length; (length = read(8)) !== null; ) {
  const { __metadata__: request, ...tensors } = JSON.parse(read(Number(length.readBigUInt64LE())));
  const data = read(Math.max(0, ...Object.values(tensors).map((tensor) => tensor.data_offsets[1])));
  const spec = JSON.parse(request.spec);
  const wanted = { encoding: "alibi", form: "distance", slope_dtype: null, dtype: "float32" };
  const known = Object.entries(wanted).every(([field, value]) => spec[field] === value);
  let reply = { id: request.id, status: "ok" };
  let results = {};
  if (request.op === "describe") reply = { ...reply, name: "ALiBi in JavaScript", ops: "bias", dtypes: "float32" };
  else if (request.op === "bias" && known && Number.isInteger(Math.log2(spec.num_heads)))
    results = bias(spec, integers(data, tensors.query_positions), integers(data, tensors.key_positions));
  else reply = { ...reply, status: "unsupported", message: "distances in float32, of a power of two of heads, unrounded slopes" };
  let offset = 0;
  const header = { __metadata__: reply };
  for (const [name, { dtype, shape, bytes }] of Object.entries(results))
    header[name] = { dtype, shape, data_offsets: [offset, (offset += bytes.length)] };
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  write(Buffer.concat([size, text, ...Object.values(results).map((result) => result.bytes)]));
}
