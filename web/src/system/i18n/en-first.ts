/** What the first page says, in English. */
export const enFirst = {
  'first.title': 'What should be done?',
  'first.subtitle.ask':
    'An agent works in {folder}, asks before it changes anything, and every step is on record.',
  'first.subtitle.edits':
    'An agent works in {folder}, changes files without asking, asks before commands, and every step is on record.',
  'first.subtitle.planning':
    'An agent reads in {folder}, writes nothing but documents, and every step is on record.',
  'first.subtitle.full':
    'An agent works in {folder}, asks only where a rule says so, and every step is on record.',
  'first.no_folder': 'No folder is open',
  'first.no_folder_hint': 'Run {command} in the folder you want to work in.',
  'first.models': 'Model',
  'first.models_offline': 'No model is connected yet: questions are answered by searching the folder.',
  'first.found.server': '{name} runs here',
  'first.found.key': 'A key of {name} is set',
  'first.found.agent': '{name} is installed',
  'first.connect_of': 'Connect {model} of {name}',
  'first.other_model': 'Connect another model',
  'first.sample': 'Try the sample',
  'first.sample_here': 'This is the sample folder. Nothing in it matters, so try anything.',
  'first.sample_elsewhere': 'Pick one, change it as you like, and send it.',
  'first.sample_1': 'Which test fails, and what do the notes say about it?',
  'first.sample_2': 'Where are the readings loaded?',
  'first.sample_3': 'Search for the warning level and write a report',
  'first.elsewhere': 'Try one of these',
  'first.elsewhere_1': 'What do the tests cover?',
  'first.elsewhere_2': 'Where are errors handled?',
  'first.elsewhere_3': 'Search for "todo" and write a report',
  'first.demos': 'Watch a team at work',
  'first.demos_how': 'In a folder of its own. The agents’ words are a script; all else is real.',
  'first.demo.solo_run': 'One agent mends a failing test',
  'first.demo.coordinator_team': 'A coordinator has a change researched and made',
  'first.demo.parallel_workers': 'Three workers translate at the same time',
  'first.demo.specialist_handoff': 'A generalist hands over to a specialist',
  'first.demo.review_team': 'A change is reviewed, sent back and passed',
  'first.demo.human_agent_board': 'A board that you and agents share',
  'first.demo.background_teammate': 'A watcher sleeps, wakes when something changed, and reports',
  'first.demo.remote_teammate': 'An agent elsewhere is given work, asks back and delivers',
  'first.past': 'Open a past session',
  'first.past_none':
    'There are none in this folder yet. {command} in a terminal brings those of Claude Code and Codex.',
} as const
