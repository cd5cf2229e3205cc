// The tables of a run file; docs/files.md explains each column.
#pragma once

namespace tenon::run {

inline constexpr int run_file_version = 1;
inline constexpr int run_file_application = 0x54454E4F;  // "TENO"

inline constexpr const char* run_schema = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE shapes(id INTEGER PRIMARY KEY, name TEXT, vertices BLOB, triangles BLOB, edges BLOB, points BLOB,
  geometry_frame BLOB, closed INTEGER);
CREATE TABLE bodies(id INTEGER PRIMARY KEY, name TEXT, shape INTEGER, type TEXT, mass REAL,
  second_x REAL, second_y REAL, second_z REAL, red REAL, green REAL, blue REAL,
  collides INTEGER, grp TEXT, min_separation REAL);
CREATE TABLE elastic(id INTEGER PRIMARY KEY, name TEXT, rest BLOB, vertex_mass BLOB, tets BLOB, surface BLOB,
  embedded_vertices BLOB, embedded_triangles BLOB, embedded_tet BLOB, embedded_weight BLOB,
  red REAL, green REAL, blue REAL);
CREATE TABLE joints(id INTEGER PRIMARY KEY, name TEXT, type TEXT, body_a INTEGER, body_b INTEGER,
  point_a BLOB, point_b BLOB, frame_a BLOB, frame_b BLOB, rest_length REAL);
CREATE TABLE ignored(a INTEGER, b INTEGER);
CREATE TABLE frames(id INTEGER PRIMARY KEY, step INTEGER, time REAL, q BLOB, rate BLOB);
CREATE TABLE hashes(frame INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE elastic_frames(frame INTEGER, elastic INTEGER, x BLOB, v BLOB, element_state BLOB,
  PRIMARY KEY(frame, elastic));
CREATE TABLE contacts(frame INTEGER PRIMARY KEY, count INTEGER, pairs BLOB, points BLOB, normals BLOB,
  forces BLOB, distances BLOB);
CREATE TABLE joint_forces(frame INTEGER PRIMARY KEY, force BLOB, torque BLOB, coordinate BLOB);
CREATE TABLE joint_drives(frame INTEGER PRIMARY KEY, rate BLOB, motor BLOB, limits BLOB);
CREATE TABLE steps(step INTEGER PRIMARY KEY, time REAL, wall_ms REAL, iterations INTEGER, converged INTEGER,
  contacts INTEGER, min_distance REAL, joint_residual REAL, kinetic REAL, gravity REAL, elastic REAL,
  px REAL, py REAL, pz REAL, lx REAL, ly REAL, lz REAL, solver TEXT, phases TEXT, figures TEXT, warnings TEXT);
CREATE TABLE path(id INTEGER PRIMARY KEY, step INTEGER, q BLOB);
CREATE INDEX path_step ON path(step);
CREATE TABLE checkpoints(step INTEGER, part INTEGER, state BLOB, PRIMARY KEY(step, part));
)sql";

inline constexpr const char* body_type_names[] = {"dynamic", "static", "kinematic"};
inline constexpr const char* joint_type_names[] = {"ball",        "hinge",  "universal", "prismatic", "fixed",
                                                   "cylindrical", "planar", "distance",  "coupling"};

}  // namespace tenon::run
