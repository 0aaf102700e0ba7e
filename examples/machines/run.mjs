// Prints what the module of this folder reports: node run.mjs MODULE.wasm
import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const imports = WebAssembly.Module.imports(module);
if (imports.length > 0) {
  throw new Error(`the module imports ${JSON.stringify(imports)}: the pure ring asks nothing of its host`);
}
const { memory, report_pointer, report_length } = new WebAssembly.Instance(module, {}).exports;
const [pointer, length] = [report_pointer(), report_length()];
process.stdout.write(Buffer.from(memory.buffer, pointer, length));
