/// Which release of the package this is.
public enum PackageVersion: Sendable {
    /// As in "1.2.3": major, minor, patch.
    public static let current = "0.1.0"
}
