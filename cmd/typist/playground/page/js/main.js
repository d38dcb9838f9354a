// The page: it asks for what does not change, then follows what does.

import './lib/theme.js';
import { changed, on } from './lib/bus.js';
import { toast } from './lib/toast.js';
import { get } from './net/api.js';
import { setup } from './model/world.js';
import { topbar } from './topbar.js';
import { tabs } from './tabs.js';
import { makePane } from './pane/pane.js';
import { inspector } from './inspector/inspector.js';
import { focusPane, restorePlaces } from './places.js';

async function start() {
  try {
    Object.assign(setup, await get('/api/setup'));
  } catch (e) {
    toast(`The playground does not answer: ${e.message}`);
    return;
  }
  restorePlaces();
  topbar(document.getElementById('bar'));
  const panes = document.getElementById('panes');
  for (const p of setup.platforms) panes.append(makePane(p));
  tabs(document.getElementById('tabs'));
  inspector(document.getElementById('inspector'));
  focusPane(setup.platforms[0].name);
  on('ready', () => document.documentElement.dataset.ready = 'true');
  changed('setup');
}

start();
