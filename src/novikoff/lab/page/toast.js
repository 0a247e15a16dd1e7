// A few words that go away by themselves.

let going = 0;

export function toast(words) {
  const place = document.getElementById("toast");
  place.textContent = words;
  place.hidden = false;
  clearTimeout(going);
  going = setTimeout(() => { place.hidden = true; }, 3500);
}

export const complain = (error) => toast(error.message);
