import IndoorLocalizationTesting

extension StaticComparison {
    /// The figures as an object.
    var json: String {
        var json = JSONText()
        json.add("beacons", beacons)
        json.add("places", places)
        json.add("engine", engine, decimals: 4)
        json.add("exact", exact, decimals: 4)
        json.add("cramerRao", cramerRao, decimals: 4)
        json.add("engineAtDefaults", engineAtDefaults, decimals: 4)
        json.add("ratio", ratio, decimals: 4)
        return json.text
    }

    /// The figures, one a line, the ratio last.
    var lines: String {
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 3) + " m" }
        return """
            places                 \(places), beacons \(beacons)
            engine                 \(metres(engine))
            exact posterior mean   \(metres(exact))
            Cramer-Rao bound       \(metres(cramerRao))
            engine at defaults     \(metres(engineAtDefaults))
            engine / exact         \(JSONText.number(ratio, decimals: 3))
            """
    }
}
