/// Names and addresses by which a machine reaches itself: what is sent there is read by nobody else.
package enum LoopbackHost {
    /// Whether the host is `localhost`, `::1` or of 127.0.0.0/8; an IPv6 address may be in brackets.
    package static func contains(_ host: String) -> Bool {
        if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
