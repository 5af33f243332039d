//! Access and erasing at the surface.

mod erasing;
mod tokens;
