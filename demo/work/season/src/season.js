/** Which season is it, by whole months, as weather services count? */
const NORTH = ["winter", "spring", "summer", "autumn"];

export function season({ month }, hemisphere = "north") {
  const quarter = Math.floor((month % 12) / 3);
  return NORTH[hemisphere === "north" ? quarter : (quarter + 2) % 4];
}
