// Scales and ticks. Halves are taken before differences, so that values near the largest double do not overflow.
function scale(low, high, from, to) {
  const span = high / 2 - low / 2;
  return (value) => from + (span ? (value / 2 - low / 2) / span : 0.5) * (to - from);
}

// Widen a domain a little; a single value gets room around it.
function padded(low, high, share = 0.06) {
  if (low === high) {
    const room = Math.abs(low) * 0.05 || 1;
    return [low - room, high + room].map(bounded);
  }
  const room = (high / 2 - low / 2) * 2 * share;
  return [low - room, high + room].map(bounded);
}

const bounded = (value) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));

function ticks(low, high, count) {
  const rough = (high / 2 - low / 2) / (Math.max(count, 1) / 2);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough * 0.8) || power;
  const found = [];
  if (!(step > 0) || !Number.isFinite(step)) return [low, high];
  for (let place = Math.ceil(low / step); place * step <= high && found.length < 20; place += 1) {
    found.push(Number((place * step).toPrecision(12)));
  }
  return found.length ? found : [low, high];
}

// The part of the values that a reader wants to see: a few far outliers do not flatten all the rest.
function focus(values, wanted) {
  const ordered = Float64Array.from(values).sort();
  const all = [...wanted, ordered[0], ordered[ordered.length - 1]];
  const whole = [Math.min(...all), Math.max(...all)];
  if (ordered.length < 12) return { whole, core: whole, clipped: false };
  const at = (share) => ordered[Math.round(share * (ordered.length - 1))];
  const near = [...wanted, at(0.03), at(0.97)];
  const core = [Math.min(...near), Math.max(...near)];
  const clipped = core[1] > core[0] && whole[1] / 2 - whole[0] / 2 > 3 * (core[1] / 2 - core[0] / 2);
  return { whole, core: clipped ? core : whole, clipped };
}
