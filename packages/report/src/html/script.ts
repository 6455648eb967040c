/**
 * What runs in the page: the language (that of the browser, until a reader says otherwise) and reading
 * values off charts by pointer and arrow keys. Plain text, since it is checked by its hash.
 */
export const SCRIPT = String.raw`(function () {
  'use strict';
  var page = document.documentElement;
  var box = document.querySelector('.languages');
  var buttons = box.querySelectorAll('button');
  function speak(lang) {
    page.setAttribute('data-lang', lang);
    page.setAttribute('lang', lang === 'zh' ? 'zh-Hans' : 'en');
    buttons.forEach(function (button) {
      button.setAttribute('aria-pressed', String(button.getAttribute('data-set') === lang));
    });
  }
  buttons.forEach(function (button) {
    button.addEventListener('click', function () { speak(button.getAttribute('data-set')); });
  });
  var preferred = (navigator.languages && navigator.languages[0]) || navigator.language || 'en';
  speak(/^zh/i.test(preferred) ? 'zh' : 'en');
  box.hidden = false;

  function digits(value) { return String(Number(value.toPrecision(4))); }
  function prefixed(value, from) {
    var names = ['', 'k', 'M', 'G', 'T'];
    var power = 0;
    var rest = Math.abs(value);
    while (rest >= (power === 0 ? from : 1000) && power < 4) { rest /= 1000; power += 1; }
    return (value < 0 ? '−' : '') + digits(rest) + (names[power] === '' ? '' : ' ' + names[power]);
  }
  function time(us) {
    if (us < 0) return '−' + time(-us);
    if (us < 1e3) return digits(us) + ' µs';
    if (us < 1e6) return digits(us / 1e3) + ' ms';
    if (us < 6e7) return digits(us / 1e6) + ' s';
    var s = Math.round(us / 1e6);
    var parts = [[3600, 'h'], [60, 'min'], [1, 's']].map(function (unit) {
      var n = Math.floor(s / unit[0]);
      s -= n * unit[0];
      return n > 0 ? n + ' ' + unit[1] : '';
    });
    return parts.filter(Boolean).join(' ');
  }
  function bytes(value) {
    var text = prefixed(value, 1000);
    return /[kMGT]$/.test(text) ? text.replace('k', 'K') + 'B' : text + ' B';
  }
  function show(value, unit) {
    if (unit === 'us') return time(value);
    if (unit === 'seconds') return time(value * 1e6);
    if (unit === 'share') return digits(value * 100) + ' %';
    if (unit === 'bytes') return bytes(value);
    if (unit === 'bytes_per_second') return bytes(value) + '/s';
    return prefixed(value, 10000) + (unit === 'per_second' ? '/s' : '');
  }
  function range(value, unit) {
    if (value === null || value === undefined) return '–';
    if (typeof value === 'number') return show(value, unit);
    return show(value[0], unit) + ' … ' + show(value[1], unit);
  }

  document.querySelectorAll('[data-read]').forEach(function (plot) {
    var data = null;
    var at = -1;
    var out = plot.closest('figure').querySelector('.read');
    var cursor = plot.querySelector('.cursor');
    function load() {
      if (data === null) data = JSON.parse(document.getElementById(plot.getAttribute('data-read')).textContent);
      return data;
    }
    function count() { return load().values.reduce(function (n, one) { return Math.max(n, one.length); }, 0); }
    function move(to) {
      at = Math.max(0, Math.min(count() - 1, to));
      cursor.hidden = false;
      cursor.style.left = ((at + 0.5) / count()) * 100 + '%';
      out.textContent = '';
      var told = [[at === 0 ? '0' : time(at * data.stepUs), '']];
      data.names.forEach(function (name, curve) { told.push([name, range(data.values[curve][at], data.unit)]); });
      told.forEach(function (pair) {
        var span = document.createElement('span');
        var name = document.createElement('bdi');
        name.textContent = pair[0];
        span.appendChild(name);
        if (pair[1] !== '') {
          var value = document.createElement('strong');
          value.textContent = ' ' + pair[1];
          span.appendChild(value);
        }
        out.appendChild(span);
      });
    }
    function hide() { cursor.hidden = true; out.textContent = ''; }
    function point(event) {
      var place = plot.getBoundingClientRect();
      move(Math.floor(((event.clientX - place.left) / place.width) * count()));
    }
    plot.addEventListener('pointermove', point);
    plot.addEventListener('pointerdown', point);
    plot.addEventListener('pointerleave', function (event) { if (event.pointerType === 'mouse') hide(); });
    plot.addEventListener('blur', hide);
    plot.addEventListener('keydown', function (event) {
      var steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9 }[event.key];
      if (steps === undefined) return;
      event.preventDefault();
      move(at + steps);
    });
  });
})();
`;
