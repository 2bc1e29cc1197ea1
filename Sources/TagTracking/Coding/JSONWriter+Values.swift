import IndoorVocabulary
import TextFormats

/// Places and values of any kind in JSON.
extension JSONWriter {
    /// Writes a member with a Point of GeoJSON (RFC 7946).
    package mutating func add(_ name: StaticString, pointAt coordinate: Coordinate) {
        self.name(name)
        beginObject()
        add("type", "Point")
        self.name("coordinates")
        beginArray()
        // Longitude first; seven decimals are a centimetre.
        value(coordinate.longitude, decimals: 7)
        value(coordinate.latitude, decimals: 7)
        endArray()
        endObject()
    }

    /// Writes any value, with the members of objects in order of their names.
    package mutating func value(_ content: JSONValue) {
        switch content {
        case .null: null()
        case .bool(let value): self.value(value)
        case .number(let value): self.value(shortest: value)
        case .string(let text): value(text)
        case .array(let values):
            beginArray()
            for value in values { self.value(value) }
            endArray()
        case .object(let members):
            beginObject()
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                name(escaping: key)
                self.value(value)
            }
            endObject()
        }
    }
}
