import groupBy from 'https://modules.example/lodash-es/groupBy.js';
import sortBy from 'https://modules.example/lodash-es/sortBy.js';
import merge from 'https://modules.example/lodash-es/merge.js';
import template from 'https://modules.example/lodash-es/template.js';

const words = 'a page that asks for its modules one depth after the other'.split(' ');
const lengths = groupBy(sortBy(words), (word) => word.length);
const line = template('<%= key %>: <%= value %>');
const shown = merge({}, lengths);
document.querySelector('pre').textContent = Object.entries(shown)
  .map(([key, value]) => line({ key, value })).join('\n');
