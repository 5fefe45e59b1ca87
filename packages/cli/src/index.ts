export { runCommand, type Terminal } from './program.ts'
