//! What glam lacks: rigid transforms as dual quaternions, matrix decompositions, splines.
