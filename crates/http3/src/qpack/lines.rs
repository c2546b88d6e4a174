//! Encodes the field lines of a section (RFC 9204, section 4.5).

use super::Indexing;
use super::bits::{write_number, write_string};

/// The representation of a field; dynamic entries by their absolute index.
pub(super) enum Written<'a> {
    Static(u64),
    Dynamic(u64),
    Literal(Name<'a>, &'a [u8], Indexing),
}

pub(super) enum Name<'a> {
    Static(u64),
    Dynamic(u64),
    Literal(&'a [u8]),
}

/// Writes a section's prefix (RFC 9204, section 4.5.1). The base is the required insert count, so
/// that all references are below it and none needs more bits.
pub(super) fn write_prefix(section: &mut Vec<u8>, required: u64, entries_max: u64) {
    let coded = match required {
        0 => 0,
        _ => required % (2 * entries_max) + 1,
    };
    write_number(section, 0, 8, coded);
    write_number(section, 0, 7, 0);
}

/// Writes a field line (RFC 9204, sections 4.5.2, 4.5.4 and 4.5.6).
pub(super) fn write_line(section: &mut Vec<u8>, field: &Written<'_>, base: u64) {
    match field {
        Written::Static(index) => write_number(section, 0xc0, 6, *index),
        Written::Dynamic(absolute) => write_number(section, 0x80, 6, base - 1 - absolute),
        Written::Literal(name, value, indexing) => {
            let never = u8::from(*indexing == Indexing::Never);
            match name {
                Name::Static(index) => write_number(section, 0x50 | never << 5, 4, *index),
                Name::Dynamic(absolute) => {
                    write_number(section, 0x40 | never << 5, 4, base - 1 - absolute);
                }
                Name::Literal(name) => write_string(section, 0x20 | never << 4, 3, name),
            }
            write_string(section, 0, 7, value);
        }
    }
}
