/// The version of this package.
public enum PackageVersion: Sendable {
    /// The current version as major, minor and patch, such as "1.2.3".
    public static let current = "0.1.0"
}
