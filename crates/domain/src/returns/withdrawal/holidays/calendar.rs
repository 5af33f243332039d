//! The public holidays of each country, but for those that are always on a weekend.

use chrono::Weekday::{self, Fri, Mon, Thu, Wed};

use self::Moving::{Easter, From, MayDayAfterEaster, SaintBrigid};
use crate::returns::withdrawal::country::Country;

/// A day of the year, as its month times 100 and its day: 1225 is 25 December.
pub(super) type Day = u32;

/// The public holidays of a country.
#[derive(Clone, Copy)]
pub(super) struct Calendar {
    pub(super) fixed: &'static [Day],
    /// If one is on a weekend, the next working day is a holiday as well.
    pub(super) after_weekend: &'static [Day],
    /// If one is on a Sunday, the Monday is a holiday as well.
    pub(super) after_sunday: &'static [Day],
    pub(super) moving: &'static [Moving],
}

/// A holiday whose date differs from year to year.
#[derive(Clone, Copy)]
pub(super) enum Moving {
    /// Days from Easter Sunday.
    Easter(i64),
    /// The first such weekday from a day on.
    From(Weekday, Day),
    /// The first Monday of February, or the first of February if that is a Friday.
    SaintBrigid,
    /// The Tuesday after Easter, if the first of May is in Holy Week or at Easter: it is moved there then.
    MayDayAfterEaster,
}

/// Also called Green Monday.
const CLEAN_MONDAY: Moving = Easter(-48);
const MAUNDY_THURSDAY: Moving = Easter(-3);
const GOOD_FRIDAY: Moving = Easter(-2);
const EASTER_MONDAY: Moving = Easter(1);
const ASCENSION: Moving = Easter(39);
const WHIT_MONDAY: Moving = Easter(50);
const CORPUS_CHRISTI: Moving = Easter(60);
/// Midsummer Day is the Saturday from 20 June on.
const MIDSUMMER_EVE: Moving = From(Fri, 619);

const fn plain(fixed: &'static [Day], moving: &'static [Moving]) -> Calendar {
    Calendar { fixed, after_weekend: &[], after_sunday: &[], moving }
}

impl Calendar {
    pub(super) const fn of(country: Country) -> Self {
        match country {
            // With Good Friday, on which no period ends.
            Country::Austria => plain(
                &[101, 106, 501, 815, 1026, 1101, 1208, 1225, 1226],
                &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY, CORPUS_CHRISTI],
            ),
            Country::Belgium => plain(&[101, 501, 721, 815, 1101, 1111, 1225], &[EASTER_MONDAY, ASCENSION, WHIT_MONDAY]),
            // All but those of Easter have substitutes.
            Country::Bulgaria => Self {
                fixed: &[],
                after_weekend: &[101, 303, 501, 506, 524, 906, 922, 1224, 1225, 1226],
                after_sunday: &[],
                moving: &[GOOD_FRIDAY, EASTER_MONDAY],
            },
            Country::Croatia => plain(&[101, 106, 501, 530, 622, 805, 815, 1101, 1118, 1225, 1226], &[EASTER_MONDAY, CORPUS_CHRISTI]),
            Country::Cyprus => {
                plain(&[101, 106, 325, 401, 501, 815, 1001, 1028, 1225, 1226], &[CLEAN_MONDAY, GOOD_FRIDAY, EASTER_MONDAY, WHIT_MONDAY])
            }
            Country::Czechia => plain(&[101, 501, 508, 705, 706, 928, 1028, 1117, 1224, 1225, 1226], &[GOOD_FRIDAY, EASTER_MONDAY]),
            // Periods do not end on Constitution Day or on the eves of Christmas and the new year either.
            Country::Denmark => {
                plain(&[101, 605, 1224, 1225, 1226, 1231], &[MAUNDY_THURSDAY, GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY])
            }
            Country::Estonia => plain(&[101, 224, 501, 623, 624, 820, 1224, 1225, 1226], &[GOOD_FRIDAY]),
            // With the eves of Midsummer and Christmas, on which no period ends, and the day of Åland's autonomy.
            Country::Finland => {
                plain(&[101, 106, 501, 609, 1206, 1224, 1225, 1226], &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, MIDSUMMER_EVE])
            }
            // With Alsace and Moselle (Good Friday, 26 December), and the abolition of slavery in Mayotte, Martinique, Guadeloupe,
            // Saint Martin, Guiana and Réunion.
            Country::France => plain(
                &[101, 427, 501, 508, 522, 527, 528, 610, 714, 815, 1101, 1111, 1220, 1225, 1226],
                &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY],
            ),
            // With those of some states: Epiphany, Women's Day, Corpus Christi, Assumption, Children's Day, Reformation, All Saints,
            // Repentance.
            Country::Germany => plain(
                &[101, 106, 308, 501, 815, 920, 1003, 1031, 1101, 1225, 1226],
                &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY, CORPUS_CHRISTI, From(Wed, 1116)],
            ),
            Country::Greece => Self {
                fixed: &[101, 106, 325, 815, 1028, 1225, 1226],
                after_weekend: &[],
                after_sunday: &[501],
                moving: &[CLEAN_MONDAY, GOOD_FRIDAY, EASTER_MONDAY, MayDayAfterEaster, WHIT_MONDAY],
            },
            Country::Hungary => plain(&[101, 315, 501, 820, 1023, 1101, 1225, 1226], &[GOOD_FRIDAY, EASTER_MONDAY, WHIT_MONDAY]),
            // With the afternoons of 24 and 31 December.
            Country::Iceland => plain(
                &[101, 501, 617, 1224, 1225, 1226, 1231],
                &[MAUNDY_THURSDAY, GOOD_FRIDAY, EASTER_MONDAY, From(Thu, 419), ASCENSION, WHIT_MONDAY, From(Mon, 801)],
            ),
            // For a holiday on a weekend the employer chooses a substitute, usually the next working day.
            Country::Ireland => Self {
                fixed: &[],
                after_weekend: &[101, 317, 1225, 1226],
                after_sunday: &[],
                moving: &[SaintBrigid, EASTER_MONDAY, From(Mon, 501), From(Mon, 601), From(Mon, 801), From(Mon, 1025)],
            },
            // With Whit Monday in South Tyrol.
            Country::Italy => plain(&[101, 106, 425, 501, 602, 815, 1004, 1101, 1208, 1225, 1226], &[EASTER_MONDAY, WHIT_MONDAY]),
            Country::Latvia => Self {
                fixed: &[101, 501, 623, 624, 1224, 1225, 1226, 1231],
                after_weekend: &[504, 1118],
                after_sunday: &[],
                moving: &[GOOD_FRIDAY, EASTER_MONDAY],
            },
            Country::Liechtenstein => plain(
                &[101, 106, 202, 319, 501, 815, 908, 1101, 1208, 1225, 1226],
                &[EASTER_MONDAY, ASCENSION, WHIT_MONDAY, CORPUS_CHRISTI],
            ),
            Country::Lithuania => plain(&[101, 216, 311, 501, 624, 706, 815, 1101, 1102, 1224, 1225, 1226], &[EASTER_MONDAY]),
            Country::Luxembourg => plain(&[101, 501, 509, 623, 815, 1101, 1225, 1226], &[EASTER_MONDAY, ASCENSION, WHIT_MONDAY]),
            Country::Malta => plain(&[101, 210, 319, 331, 501, 607, 629, 815, 908, 921, 1208, 1213, 1225], &[GOOD_FRIDAY]),
            // King's Day moves from a Sunday to the Saturday before. With Good Friday, on which no period ends.
            Country::Netherlands => plain(&[101, 427, 505, 1225, 1226], &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY]),
            Country::Norway => plain(&[101, 501, 517, 1225, 1226], &[MAUNDY_THURSDAY, GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, WHIT_MONDAY]),
            Country::Poland => plain(&[101, 106, 501, 503, 815, 1101, 1111, 1224, 1225, 1226], &[EASTER_MONDAY, CORPUS_CHRISTI]),
            // With the days of the Azores (Whit Monday) and Madeira (1 July, 26 December).
            Country::Portugal => {
                plain(&[101, 425, 501, 610, 701, 815, 1005, 1101, 1201, 1208, 1225, 1226], &[GOOD_FRIDAY, WHIT_MONDAY, CORPUS_CHRISTI])
            }
            Country::Romania => {
                plain(&[101, 102, 106, 107, 124, 501, 601, 815, 1130, 1201, 1225, 1226], &[GOOD_FRIDAY, EASTER_MONDAY, WHIT_MONDAY])
            }
            // With the state holidays on which people work since 2021.
            Country::Slovakia => {
                plain(&[101, 106, 501, 508, 705, 829, 901, 915, 1028, 1101, 1117, 1224, 1225, 1226], &[GOOD_FRIDAY, EASTER_MONDAY])
            }
            Country::Slovenia => plain(&[101, 102, 208, 427, 501, 502, 625, 815, 1031, 1101, 1225, 1226], &[EASTER_MONDAY]),
            // With those of the autonomous communities. A holiday on a Sunday moves to the Monday, except where a community has
            // another instead.
            Country::Spain => Self {
                fixed: &[],
                after_weekend: &[],
                after_sunday: &[
                    101, 106, 228, 301, 319, 423, 501, 502, 517, 530, 531, 609, 613, 624, 725, 728, 805, 815, 902, 908, 911, 915, 917,
                    1009, 1012, 1101, 1203, 1206, 1208, 1225, 1226,
                ],
                moving: &[MAUNDY_THURSDAY, GOOD_FRIDAY, EASTER_MONDAY, WHIT_MONDAY, CORPUS_CHRISTI],
            },
            // With the eves of Midsummer, Christmas and the new year, on which no period ends.
            Country::Sweden => {
                plain(&[101, 106, 501, 606, 1224, 1225, 1226, 1231], &[GOOD_FRIDAY, EASTER_MONDAY, ASCENSION, MIDSUMMER_EVE])
            }
        }
    }
}
