import { Argument, type Command } from 'commander'
import { type Shell, subcommand } from '../session.ts'
import { candidatesFor } from './candidates.ts'
import { fetchNames } from './fetch-names.ts'
import { SCRIPTS } from './scripts.ts'

/** `jadwal completion`: a script for the shell; and `complete`, which that script runs. */
export function addCompletionCommands({ terminal }: Shell, program: Command): void {
  subcommand(program, 'completion', 'Print a script that lets your shell complete this command')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .action((shell: keyof typeof SCRIPTS) => terminal.writeOutput(SCRIPTS[shell]))
    .addHelpText(
      'after',
      '\nIn ~/.bashrc: source <(jadwal completion bash)\nIn ~/.zshrc:  source <(jadwal completion zsh)',
    )
  program
    .command('complete', { hidden: true })
    .argument('[word...]')
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { words: known, names } = candidatesFor(program, words)
      const fetched = names ? await fetchNames(terminal, names, words) : []
      const begun = words.at(-1) ?? ''
      const fitting = [...known, ...fetched].filter((word) => word.startsWith(begun))
      terminal.writeOutput(fitting.map((word) => `${word}\n`).join(''))
    })
}
