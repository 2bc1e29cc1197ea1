import TextFormats

extension JSONLimits {
    /// What a message of a gateway may contain. Some gateways write control characters in the names of tags.
    package static let gateway = JSONLimits(depth: 32, permitsControls: true)
}
