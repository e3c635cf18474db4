// Runs a Python program in Pyodide: node tests/pyodide.mjs PROGRAM PACKAGES FILES. It finds the course at /course, the
// packages of npm at /npm, and the files at /files.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const [program, packages, files] = process.argv.slice(2).map((path) => resolve(path));
const {loadPyodide} = await import(pathToFileURL(join(packages, 'pyodide', 'pyodide.mjs')));
// viz.js asks for them in Node, as it does not in a browser.
Object.assign(globalThis, {require: createRequire(import.meta.url), __filename: program});
const pyodide = await loadPyodide();
const course = join(dirname(fileURLToPath(import.meta.url)), '..');
for (const [place, folder] of [['/course', course], ['/npm', packages], ['/files', files]]) {
  pyodide.FS.mkdirTree(place);
  pyodide.mountNodeFS(place, folder);
}
try {
  pyodide.runPython(readFileSync(program, 'utf8'));
  console.log(await pyodide.globals.get('main')());
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
