//! What the customer asked of `calc`.

#[test]
fn adds() {
    assert_eq!(calc::add(2, 3), 5);
}

mod division {
    #[test]
    fn divides() {
        assert_eq!(calc::divide(6, 3), Some(2));
    }

    #[test]
    fn refuses_zero() {
        assert_eq!(calc::divide(1, 0), None);
    }
}
